"""More expressions: attributes by keyword, narrow dtypes, images, transforms, texts, slices."""

from .expressions import (
    BINARY,
    LINEAR,
    OTHERS,
    RAGGED,
    REDUCTIONS,
    ROWWISE,
    SHAPES,
    UNARY,
    table,
)

KEYWORDS = table("""
tf.cast({i},tf.int8)  tf.cast(tf.abs({i}),tf.uint8)  tf.cast({f},tf.float16)
tf.cast({f},tf.bfloat16)  tf.cast(tf.cast({i},tf.int8)+tf.cast(2,tf.int8),tf.int32)
tf.cast(tf.abs({i}),tf.uint8)//2  tf.cast(tf.cast({i},tf.int8)*3,{dtype})
tf.cast(tf.abs({i}),tf.uint16)+1  tf.saturate_cast({f}*50.0,tf.uint8)
tf.saturate_cast({i}*100,tf.int8)  tf.bitcast({i},tf.uint8)
tf.cast(tf.cast({f},tf.bfloat16),{dtype})  tf.reduce_sum(tf.cast({i},tf.int8),axis={axes})
tf.reduce_max(tf.cast(tf.abs({i}),tf.uint8),axis={axes})  tf.cast({c},tf.complex64)
tf.image.adjust_brightness({f:image},{n})  tf.image.adjust_contrast({f:image},{n})
tf.image.central_crop({f:image},0.5)  tf.image.pad_to_bounding_box({f:image},1,0,6,6)
tf.image.crop_to_bounding_box({f:image},0,0,1,1)  tf.image.resize_with_crop_or_pad({f:image},3,3)
tf.image.per_image_standardization({f:image})  tf.image.sobel_edges({f:image})
tf.image.image_gradients({f:image})[{bit}]  tf.image.transpose({f:image})
tf.image.resize({f:image},[5,3],method='bilinear',antialias={bool})
tf.image.resize({f:image},[3,6],method='bicubic')
tf.image.resize({f:image},[3,6],method='lanczos3')  tf.image.resize({f:image},[2,2],method='area')
tf.image.resize({f:image},[4,6],preserve_aspect_ratio=True)
tf.image.psnr({f:image},{f:like},max_val=1.0)  tf.image.flip_up_down({f:image})
tf.image.rgb_to_grayscale(tf.tile({f:image}[...,:1],[1,1,1,3]))
tf.image.rgb_to_hsv(tf.sigmoid(tf.stack([{f:image}[...,0],{f}[...,1],{f}[...,0]*0.3],-1)))
tf.image.crop_and_resize({f:image},[[0.1,0.1,0.8,0.9]],[0],[3,2])
tf.linalg.cholesky_solve(tf.linalg.cholesky({definite}),{f})  tf.linalg.qr({regular})[0]
tf.linalg.qr({f:matrix},full_matrices={bool})[1]  tf.linalg.solve({regular},{f},adjoint={bool})
tf.linalg.triangular_solve({regular},{f},lower={bool},adjoint={bool})  tf.linalg.eigh({definite})[0]
tf.linalg.inv({regular},adjoint={bool})
tf.linalg.matvec({f:matrix},{rightvector},transpose_a={bool})  tf.linalg.lu({regular})[{bit}]
tf.linalg.sqrtm({definite})  tf.linalg.norm({f:matrix}+0.05,ord='fro',axis=[0,1])
tf.linalg.norm({f:matrix},ord=1,axis=[-2,-1])  tf.linalg.diag({f:ranked},k={bit},padding_value=0.5)
tf.linalg.diag_part({f:matrix},k=(-1,{bit}))  tf.linalg.band_part({f:matrix},-1,{bit})
tf.linalg.set_diag({f:matrix},tf.linalg.diag_part({f})*2.0)  tf.linalg.tensor_diag({f:vector})
tf.linalg.matmul({f:matrix},{f:like},adjoint_b=True)
tf.linalg.eye(3,batch_shape=[{k}],dtype={dtype})
tf.abs(tf.signal.fft2d(tf.cast({f:matrix},{complex})))  tf.math.real(tf.signal.ifft2d({c:matrix}))
tf.signal.rfft({f:ranked},fft_length=[6])  tf.signal.irfft({c:ranked},fft_length=[5])
tf.abs(tf.signal.rfft2d({f:matrix}))  tf.signal.irfft2d({c:matrix})
tf.signal.fftshift({f:ranked},axes=[{axis}])  tf.signal.ifftshift({f:ranked})
tf.signal.dct({f:ranked},norm='ortho')  tf.signal.idct({f:ranked},type=2)
tf.signal.dct({f:ranked},type=3,n=4)  tf.signal.dct(tf.concat([{f:ranked},{f}],-1),type=1)
tf.abs(tf.signal.stft({f:ranked},2,1,fft_length=4))
tf.signal.frame({f:ranked},2,2,pad_end=True,pad_value=0.5)
tf.signal.hann_window(5,periodic={bool},dtype={dtype})
tf.signal.kaiser_window(4,beta={n},dtype={dtype})
tf.nn.conv3d({f:image}[...,tf.newaxis],tf.ones([1,2,2,1,2],{dtype})*0.3,[1,1,1,1,1],'{padding}')
tf.nn.max_pool3d({f:image}[...,tf.newaxis],[1,2,1],[1,1,1],'{padding}')
tf.nn.avg_pool3d({f:image}[...,tf.newaxis],[1,2,2],[1,1,2],'{padding}')
tf.nn.max_pool2d({f:image},[2,1],strides=[1,{stride}],padding='{padding}')
tf.nn.max_pool2d({f:image},2,1,padding=[[0,0],[1,0],[0,1],[0,0]])
tf.nn.avg_pool({f:image},ksize=[1,2,2,1],strides=[1,{stride},{stride},1],padding='{padding}')
tf.nn.pool({f:image},[2,2],'AVG',strides=[1,1],padding='{padding}')
tf.nn.pool({f:image},[2,1],'MAX',strides=[1,{stride}],padding='{padding}')
tf.nn.separable_conv2d({f:image},{depthwise},tf.ones([1,1,2,2],{dtype}),[1,1,1,1],'{padding}')
tf.nn.convolution({f:image},{filters2},strides=[1,{stride}],padding='{padding}')
tf.nn.depthwise_conv2d({f:image},{depthwise},[1,1,1,1],'{padding}',dilations=[1,{stride}])
tf.nn.conv1d({f:three_axes},{filters1},1,'{padding}',dilations=2)
tf.nn.erosion2d({f:image},{erosion},[1,1,1,1],'{padding}','NHWC',[1,1,1,1])
tf.nn.max_pool_with_argmax({f:image},2,{stride},'{padding}')[{bit}]
tf.nn.weighted_moments({f:ranked},[{axis}],tf.abs({f:like})+0.1,keepdims={bool})[{bit}]
tf.nn.moments({f:ranked},axes=[{axis}],keepdims=True)[{bit}]
tf.nn.normalize_moments(3.0,{f},tf.square({f}),{n})[{bit}]
tf.nn.l2_normalize({f:ranked},axis={axis},epsilon=0.1)  tf.nn.swish({f},beta={n})
tf.nn.log_poisson_loss({f},{f:like},compute_full_loss=False)
tf.batch_to_space(tf.tile({f:image},[4,1,1,1]),[2,2],[[0,{bit}],[{bit},0]])
tf.nn.compute_average_loss({f},global_batch_size=4)
tf.cumsum({f:ranked},axis={axis},exclusive={bool},reverse={bool})
tf.math.cumulative_logsumexp({f:ranked},axis={axis},exclusive={bool},reverse={bool})
tf.gather({f:matrix},[[0],[0]],axis=1,batch_dims=0)
tf.gather_nd({f:matrix},tf.zeros([{f}.shape[0],1],tf.int32),batch_dims=1)  tf.where({f}>0.0)[...,:1]
tf.argsort({f:ranked},axis={axis},direction='DESCENDING',stable=True)
tf.math.top_k({f:ranked},k={bit},sorted=True)[1]  tf.approx_top_k({f:ranked},k=1)[0]
tf.tensor_scatter_nd_update({f:matrix},[[0,0]],[{n}])
tf.scatter_nd([[1],[0]],{f:ranked}[:2],[3,*{f}.shape[1:]])
tf.strided_slice({f:matrix},[0,-1],[9,-9],[1,-1])
tf.strided_slice({f:ranked},[0],[2],shrink_axis_mask=1)
tf.strided_slice({f:matrix},[0,0],[1,9],begin_mask=2,new_axis_mask={bit})  {f:ranked}[::-2]
{x:matrix}[...,::-1]  {x:matrix}[tf.newaxis,...,-1]  {f:matrix}[:,tf.newaxis,::-1]
{f:matrix}[-1:-3:-1,None]  {f:three_axes}[...,1:,None,::-1]  {f:three_axes}[:,-1,...]
{x:ranked}[None,...,None]  {f:matrix}[{f}.shape[0]//2:,tf.constant(0)]
{f:ranked}[:tf.shape({f})[0]-1]  {f:ranked}[tf.constant(0):tf.constant(1)]
tf.boolean_mask({f:matrix},{mask},axis=0)  tf.strings.length(tf.strings.as_string({i}))
tf.strings.to_number(tf.strings.as_string({i}),{numbers})
tf.strings.to_hash_bucket_fast(tf.strings.as_string({i:ranked}),5)
tf.strings.as_string({b})=='true'
tf.strings.to_number(tf.strings.join([tf.strings.as_string(tf.abs({i})),'0']),tf.int32)
tf.strings.split(tf.strings.as_string({i:vector}),'-').row_lengths()
tf.repeat({f:ranked},repeats={k},axis={axis})  tf.stack([{f},{f}*{n}],axis={newaxis})
tf.tile({f:ranked},[2]+[1]*({f}.shape.rank-1))
tf.one_hot({i},depth=4,axis={newaxis},on_value={n},off_value=-1.0,dtype={dtype})
tf.eye(2,num_columns=3,batch_shape=[2],dtype={dtype})
tf.math.reduce_variance({f},axis={axes},keepdims={bool})
tf.math.unsorted_segment_min({f:ranked},{ids},3)  tf.math.approx_max_k({f:ranked},1)[0]
tf.math.softplus({f})  tf.math.rint({f}*2.0)  tf.math.lbeta(tf.abs({f:ranked})+0.5)
tf.math.nextafter({f},{f:like}*2.0)  tf.math.is_non_decreasing({f})  tf.math.scalar_mul({n},{f})
tf.math.logical_xor({b},{b:fit})  tf.math.polygamma(tf.ones_like({f}),tf.abs({f})+0.5)
tf.math.erfcinv(tf.sigmoid({f}))
tf.math.bincount(tf.abs({i:vector}),weights=tf.ones({i}.shape,{dtype}),maxlength=6)
tf.tensordot({f:matrix},{f:like},axes=[[0],[0]])
tf.tensordot({f:matrix},{f:like},axes=[[0,1],[0,1]])
tf.einsum('...ij,...kj->...ik',{f:matrix},{f:like})  tf.einsum('ij,ij->j',{f:matrix},{f:like})
tf.einsum('b...,b...->...',{f:matrix},{f:like})  tf.unravel_index([0,1],tf.constant([2,3]))
tf.sets.size(tf.sets.intersection({i:matrix},{i}))
tf.unique_with_counts(tf.reshape({i},[-1])).count  tf.experimental.numpy.nanmean({f},axis={axis})
tf.nn.top_k({f:ranked},1).indices
tf.extract_volume_patches({f:image}[...,tf.newaxis],[1,1,2,1,1],[1,1,1,1,1],'{padding}')
tf.ragged.stack([{f:vector},{f}[:1]]).to_tensor()  tf.ragged.range([{k},{k}]).to_tensor()
tf.quantization.fake_quant_with_min_max_args({f},min=-1.0,max=1.0)
tf.scan(lambda a,r:a*r,{f:ranked},reverse=True)
tf.foldl(lambda a,r:a*0.5+tf.sin(r),{f:ranked},initializer={f}[0]*2.0)
tf.while_loop(lambda i,a:i<9,lambda i,a:(i+1,tf.cos(a)),(0,{f}),maximum_iterations={k})[1]
tf.switch_case(tf.cast(tf.reduce_sum({f})>0.0,tf.int32),[lambda:{f}*2.0,lambda:tf.sin({f})])
tf.recompute_grad(lambda a,b:tf.reduce_sum(tf.sin(a)*b))({f},{f:fit})
tf.custom_gradient(lambda a:(tf.square(a),lambda d:d*a*3.0))({f})
tf.custom_gradient(lambda a,b:(a*b,lambda d:(d*b,d*2.0)))({f},{f:like})
tf.nest.map_structure(lambda a:a*2.0,{'a':{f},'b':[{f}]})['b'][0]
""")

#: Those that take more than a line.
KEYWORDS += [
    "tf.nn.conv2d({f:image},{filters2},strides=[1,{stride},{stride},1],padding=[[0,"
    "0],[1,{bit}],[{bit},1],[0,0]])",
    "tf.nn.conv1d_transpose({f:three_axes},tf.ones([2,3,1],{dtype})[:,:,:1]*tf.ones("
    "[1,1,{f}.shape[-1]],{dtype}),[{f}.shape[0],{f}.shape[1]*2,3],2)",
    "tf.nn.with_space_to_batch({f:image},[1,2],'SAME',lambda a,num_spatial_dims,"
    "padding:a*2.0,filter_shape=[2,2])",
    "tf.strings.length(tf.strings.reduce_join(tf.strings.as_string({i:ranked}),"
    "axis={axis},separator=','))",
    "tf.map_fn(lambda r:tf.switch_case(tf.cast(tf.reduce_sum(r)>0.0,tf.int32),"
    "[lambda:r*2.0,lambda:r*r]),{f:ranked})",
    "tf.while_loop(lambda i,a:i<3,lambda i,a:(i+1,tf.concat([a,a[:1]],0)),[0,"
    "{f:ranked}],shape_invariants=[tf.TensorShape([]),tf.TensorShape("
    "[None]+{f}.shape[1:])])[1]",
]

#: The tables of what programs are made of, and how often each is taken.
TABLES = [
    (UNARY, 24),
    (BINARY, 24),
    (REDUCTIONS, 14),
    (SHAPES, 24),
    (LINEAR, 9),
    (OTHERS, 8),
    (ROWWISE, 6),
    (RAGGED, 5),
    (KEYWORDS, 26),
]
