"""The expressions that programs are made of, by what they take.

Two spaces or a line stand between them. A field in braces is filled by `fill.py`: `{f}` with a
tensor of floats, `{f:like}` with one of the shape of the first tensor, `{f:fit}` with one that
broadcasts with it, `{axis}` with one of its axes, and so on; `{f}` again is the same tensor. The
letter says of which dtype: f floats, i and j integers, b, c complex, x any; R ragged, S sparse.
Operands are kept away from poles, and from where TensorFlow has no one answer.
"""

import re


def table(text: str) -> list[str]:
    """Expressions, which stand two spaces or a line apart."""
    return re.split(r"\s{2,}|\n", text.strip())


UNARY = table("""
tf.sin({f})  tf.cos({f})  tf.tan({f}*0.3)  tf.sinh({f}*0.5)  tf.cosh({f}*0.5)  tf.tanh({f})
tf.exp({f}*0.5)  tf.math.expm1({f}*0.5)  tf.abs({f})  -{f}  tf.square({f})  tf.sign({f})*{f}
tf.floor({f})  tf.math.ceil({f})  tf.round({f})  tf.sigmoid({f})  tf.nn.relu({f})  tf.nn.relu6({f})
tf.nn.elu({f})  tf.nn.selu({f})  tf.nn.softplus({f})  tf.nn.softsign({f})  tf.nn.leaky_relu({f})
tf.nn.leaky_relu({f},alpha={n})  tf.nn.gelu({f})  tf.nn.gelu({f},approximate=True)  tf.nn.silu({f})
tf.math.log_sigmoid({f})  tf.math.erf({f})  tf.math.erfc({f})  tf.math.lgamma(tf.abs({f})+0.5)
tf.math.digamma(tf.abs({f})+0.5)  tf.sqrt(tf.abs({f})+0.5)  tf.sqrt(tf.abs({f}))
tf.math.rsqrt(tf.abs({f})+0.5)  tf.math.log(tf.abs({f})+0.5)  tf.math.log1p(tf.abs({f}))
tf.math.reciprocal(tf.abs({f})+0.5)  tf.asin(tf.tanh({f})*0.9)  tf.acos(tf.tanh({f})*0.9)
tf.atan({f})  tf.asinh({f})  tf.acosh(tf.abs({f})+1.5)  tf.atanh(tf.tanh({f})*0.9)  tf.identity({f})
tf.stop_gradient({f})  tf.math.is_finite({f})  tf.zeros_like({f})  tf.ones_like({f})
tf.math.bessel_i0e({f})  tf.math.bessel_i1e({f})  tf.math.erfinv(tf.tanh({f})*0.9)
tf.math.ndtri(tf.sigmoid({f}))  tf.math.sinc({f})  {f}**2  {f}**3  2.0**{f}  1.0/(tf.abs({f})+0.5)
{f}*{n}  {f}+{n}  {n}-{f}  {f}/{n}  abs({f})  tf.math.special.dawsn({f})
tf.math.special.expint(tf.abs({f})+0.5)  tf.math.special.fresnel_sin({f})
tf.math.special.spence(tf.abs({f})+0.5)  tf.math.special.bessel_j0({f})
tf.math.special.bessel_k0(tf.abs({f})+0.5)  tf.clip_by_value({f},-{n},{n})  tf.clip_by_norm({f},{n})
tf.nn.l2_loss({f})  tf.cast({f},{dtype})  tf.cast({f},{ints})
tf.where({f}>0,tf.sqrt(tf.abs({f})),{n})  tf.math.cumulative_logsumexp({f:ranked},axis={axis})
""")

BINARY = table("""
{f}+{f:fit}  {f}-{f:fit}  {f}*{f:fit}  {f}/(tf.abs({f:fit})+0.5)  tf.maximum({f},{f:fit})
tf.minimum({f},{f:fit})  tf.pow(tf.abs({f})+0.5,{f:fit})  (tf.abs({f})+0.5)**{f:fit}
tf.math.squared_difference({f},{f:fit})  tf.atan2({f},{f:fit}+0.05)
tf.math.divide_no_nan({f},{f:fit})  tf.math.multiply_no_nan({f},{f:fit})
tf.math.xlogy({f},tf.abs({f:fit})+0.5)  tf.math.xlog1py({f},tf.abs({f:fit}))
tf.math.xdivy({f},tf.abs({f:fit})+0.5)  tf.math.floormod({f},tf.abs({f:fit})+0.7)
tf.math.floordiv({f},tf.abs({f:fit})+0.7)  tf.math.mod({f},tf.abs({f:fit})+0.7)
tf.truncatemod({f},tf.abs({f:fit})+0.7)  tf.math.igamma(tf.abs({f})+0.5,tf.abs({f:fit})+0.5)
tf.math.igammac(tf.abs({f})+0.5,tf.abs({f:fit})+0.5)  tf.math.nextafter({f},{f:like})  {f}>{f:fit}
{f}<={f:fit}  tf.equal({f},{f:fit})  tf.not_equal({f},{f:fit})  tf.where({f}>{f:fit},{f:fit},{f})
tf.where({b},{f},{f:fit})  tf.add_n([{f},{f:like},{f:like}])
tf.experimental.numpy.hypot({f},{f:fit})
tf.math.polyval([{f},{f:fit},{n}],{f:fit})  tf.math.accumulate_n([{f},{f:like}])
tf.nn.bias_add({f:ranked},{f:vector})
tf.nn.sigmoid_cross_entropy_with_logits(labels={f},logits={f:like})
tf.nn.weighted_cross_entropy_with_logits({f},{f:like},{n})  tf.complex({f},{f:like})  {f}@{f:fit}
tf.math.betainc(tf.ones_like({f}),tf.ones_like({f})*{n},tf.sigmoid({f}))
tf.math.zeta(tf.ones_like({f})*1.5,tf.abs({f})+0.5)  tf.stack([{f},{f:like}],axis={newaxis})
tf.concat([{f:ranked},{f:like}],axis={axis})  tf.concat([{f:ranked},{f}],{axis})
{f}+({f:fit}-{f})*{n}  tf.clip_by_value({f},-tf.abs({f:fit}),tf.abs({f:fit})+0.3)
tf.cumsum({f:ranked}*{f:fit})
""")

REDUCTIONS = table("""
tf.reduce_sum({f},axis={axes},keepdims={bool})  tf.reduce_mean({f},axis={axes},keepdims={bool})
tf.reduce_sum({f})  tf.reduce_mean({f})  tf.reduce_max({f},axis={axes},keepdims={bool})
tf.reduce_min({f},axis={axes},keepdims={bool})
tf.reduce_prod(tf.abs({f})+0.5,axis={axes},keepdims={bool})
tf.reduce_logsumexp({f},axis={axes},keepdims={bool})  tf.math.reduce_std({f},axis={axes})
tf.math.reduce_variance({f},axis={axes},keepdims={bool})  tf.norm({f}+0.05,axis={axis})
tf.norm({f},ord=1,axis={axis})  tf.norm({f},ord=float('inf'),axis={axis},keepdims=True)
tf.norm({f}+0.05)  tf.math.reduce_euclidean_norm({f},axis={axes})
tf.cumsum({f:ranked},axis={axis},exclusive={bool},reverse={bool})
tf.math.cumprod(tf.abs({f:ranked})+0.5,axis={axis},exclusive={bool},reverse={bool})
tf.nn.moments({f:ranked},axes=[{axis}])[{bit}]  tf.argmax({f:ranked},axis={axis})
tf.argmin({f:ranked},axis={axis},output_type=tf.int32)  tf.sort({f:ranked},axis={axis})
tf.sort({f:ranked},axis={axis},direction='DESCENDING')
tf.argsort({f:ranked},axis={axis},stable=True)  tf.math.top_k({f:ranked},k={bit})[0]
tf.math.top_k({f:ranked},k=1)[{bit}]  tf.nn.softmax({f:ranked},axis={axis})
tf.nn.log_softmax({f:ranked},axis={axis})  tf.linalg.l2_normalize({f:ranked},axis={axes})
tf.math.count_nonzero({f},axis={axes},keepdims={bool})  tf.math.in_top_k([{bit}],{f:matrix}[:1],1)
tf.reduce_any({b},axis={axes0})  tf.reduce_all({b})  tf.math.reduce_sum({i})
tf.reduce_max({i},axis={axes})  tf.reduce_prod({i},axis={axes})
tf.unstack({f:ranked},axis={axis})[0]  tf.unstack({f:ranked},axis={axis})[-1]
tf.math.zero_fraction({f})  tf.unique(tf.reshape({i},[-1]))[{bit}]
tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({f:ranked}),logits={f:like})
tf.math.confusion_matrix([0,1,{bit}],[{bit},1,0])
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.argmax({f:ranked},axis=-1),logits={f})
tf.histogram_fixed_width({f},[-1.0,2.0],nbins=4)
tf.nn.batch_normalization({f},{n},tf.abs({f:fit})+0.5,{f:fit},None,0.01)
tf.linalg.global_norm([{f}+0.05,{f:fit}])  tf.clip_by_global_norm([{f},{f:fit}],{n})[0][{bit}]
""")

SHAPES = table("""
tf.reshape({x},{shape})  tf.reshape({f},[-1])  tf.transpose({x})  tf.transpose({x},{perm})
tf.expand_dims({x},{newaxis})  tf.squeeze({x})  {f:ranked}[{index}]  {f:ranked}[{index}]
{x:ranked}[{index}]  {f}[...,tf.newaxis]  {f}[tf.newaxis]  tf.tile({x},{multiples})
tf.pad({f},{paddings})  tf.pad({f},{paddings},constant_values={n})
tf.pad({f:ranked},{paddings},mode='{padmode}')  tf.reverse({x:ranked},[{axis}])
tf.roll({x:ranked},{k},axis={axis})  tf.repeat({x:ranked},{k},axis={axis})
tf.repeat({f:ranked},{counts},axis=0)  tf.broadcast_to({x},{broader})
tf.gather({f:ranked},{indices})  tf.gather({f:ranked},{indices_axis},axis={axis})
tf.gather({f:ranked},[{indices},{indices}])  tf.gather_nd({f:ranked},{points})
tf.gather({f:matrix},tf.argmax({f},axis=1),axis=1,batch_dims=1)  tf.slice({f:ranked},{begin},{size})
tf.strided_slice({f:ranked},{begin},{end})  tf.boolean_mask({f:ranked},{mask})  tf.where({f}>0.1)
tf.split({f:ranked},{dim0})[0]  tf.split({f:ranked},[1,-1])[1]
tf.split({f:ranked},[1,-1],axis={axis})[{bit}]
tf.scatter_nd([[0],[2],[0]],{f:three},[4]+{f}.shape[1:])
tf.tensor_scatter_nd_update({f:ranked},[[0]],{f}[-1:])
tf.tensor_scatter_nd_add({f:ranked},[[0],[0]],tf.stack([{f}[-1],{f}[0]]))
tf.tensor_scatter_nd_max({f:ranked},[[0]],{f}[-1:])
tf.tensor_scatter_nd_sub({f:ranked},[[0]],{f:like}[-1:])
tf.tensor_scatter_nd_min({f:ranked},[[0],[0]],tf.stack([{f}[-1],{f}[0]]))
tf.math.segment_sum({f:ranked},{segments})  tf.math.segment_mean({f:ranked},{segments})
tf.math.segment_max({f:ranked},{segments})  tf.math.segment_min({f:ranked},{segments})
tf.math.segment_prod({f:ranked},{segments})  tf.math.unsorted_segment_sum({f:ranked},{ids},3)
tf.math.unsorted_segment_max({f:ranked},{ids},2)  tf.math.unsorted_segment_mean({f:ranked},{ids},3)
tf.math.unsorted_segment_prod(tf.abs({f:ranked})+0.5,{ids},3)
tf.math.unsorted_segment_sqrt_n({f:ranked},{ids},3)  tf.linalg.diag({f:ranked})
tf.linalg.diag_part({f:matrix})  tf.linalg.band_part({f:matrix},{bit},{bit})
tf.linalg.set_diag({f:square},{f:vector})  tf.linalg.trace({f:matrix})  tf.eye({k})
tf.one_hot({i},3)  tf.one_hot({i},3,on_value={n},axis={bit},dtype=tf.float32)  tf.size({x})
tf.shape({x})  tf.rank({x})  tf.fill([2,{k}],{n})  tf.range({k})  tf.range({n},4.0,0.5)
tf.linspace({n},3.0,4)  tf.sequence_mask({i:ranked})  tf.zeros([{k},2])  tf.ones([{k}],{dtype})
tf.meshgrid({f:vector},{f:vector})[{bit}]
tf.reverse_sequence({f:matrix},{lengths},seq_axis=1,batch_axis=0)
tf.space_to_batch({f:image},[2,2],[[0,0],[0,0]])  tf.nn.space_to_depth({f:image},2)
tf.nn.depth_to_space({f:image4},2)  tf.dynamic_partition({f:ranked},{ids},3)[{bit}]
tf.dynamic_stitch([[0,2],[1]],[{f:ranked}[:2],{f}[:1]])  tf.linalg.matrix_transpose({f:matrix})
tf.identity_n([{f},{f}])[{bit}]  tf.ensure_shape({f},{f}.shape)  tf.cast({f}>0,{dtype})
tf.searchsorted(tf.sort({f:vector}),{f:vector})
tf.raw_ops.ReverseV2(tensor={f:ranked},axis=[{axis}])  tf.nn.embedding_lookup({f:ranked},{indices})
tf.experimental.numpy.swapaxes({f:matrix},0,1)  tf.experimental.numpy.diff({f:ranked})
tf.experimental.numpy.ravel({f})  tf.experimental.numpy.moveaxis({f:matrix},0,-1)
tf.image.rot90({f:image})  tf.image.flip_left_right({f:image})
tf.math.bincount(tf.abs(tf.reshape({i},[-1])),minlength=2)
tf.histogram_fixed_width_bins({f},[-1.0,1.0],nbins=3)  tf.stack([{f},{f}])
""")

LINEAR = table("""
tf.matmul({f:matrix},{right})  {f:matrix}@{right}  tf.matmul({f:matrix},{f},transpose_b=True)
tf.matmul({f:matrix},{f:like},transpose_a=True)  tf.linalg.matvec({f:matrix},{rightvector})
tf.tensordot({f:ranked},{f:like},{bit})  tf.tensordot({f:matrix},{right},axes=[[-1],[0]])
tf.einsum('ij,jk->ik',{f:matrix},{right})  tf.einsum('ij,kj->ki',{f:matrix},{f:like})
tf.einsum('...i,...i->...',{f:ranked},{f:like})  tf.einsum('ij->ji',{f:matrix})
tf.einsum('ii->i',{f:square})  tf.einsum('i,j->ij',{f:vector},{f:vector})
tf.einsum('bij,bij->b',{f:three_axes},{f:like})  tf.einsum('ij->',{f:matrix})
tf.linalg.det({regular})  tf.linalg.inv({regular})  tf.linalg.solve({regular},{f})
tf.linalg.cholesky({definite})  tf.linalg.slogdet({regular})[1]  tf.linalg.logdet({definite})
tf.linalg.triangular_solve({regular},{f})  tf.linalg.expm({f:square}*0.2)  tf.linalg.pinv({regular})
tf.linalg.eigvalsh({definite})  tf.linalg.svd({f:matrix},compute_uv=False)
tf.linalg.lstsq({regular},{f})  tf.linalg.qr({regular})[1]  tf.linalg.adjoint({f:matrix})
tf.linalg.cross({f:ends3},{f:like})  tf.linalg.matrix_rank({regular})
tf.linalg.tridiagonal_matmul({regular},{f},diagonals_format='matrix')
tf.nn.conv2d({f:image},{filters2},strides={stride},padding='{padding}')
tf.nn.conv1d({f:three_axes},{filters1},stride={stride},padding='{padding}')
tf.nn.depthwise_conv2d({f:image},{depthwise},[1,{stride1},{stride1},1],'{padding}')
tf.nn.max_pool2d({f:image},2,{stride},'{padding}')
tf.nn.avg_pool2d({f:image},2,{stride},'{padding}')
tf.nn.avg_pool1d({f:three_axes},2,{stride},'{padding}')
tf.nn.max_pool1d({f:three_axes},2,{stride},'{padding}')
tf.nn.local_response_normalization({f:image})
tf.nn.conv2d_transpose({f:image},{filters_back},{backshape},2)  tf.image.resize({f:image},[3,5])
tf.image.resize({f:image},[2,2],method='nearest')  tf.nn.dropout({f},0.0)  tf.nn.crelu({f:ranked})
tf.nn.conv2d({f:image},{filters2},1,'{padding}',dilations=2)
tf.image.extract_patches({f:image},[1,2,2,1],[1,1,1,1],[1,1,1,1],'{padding}')
tf.nn.dilation2d({f:image},{erosion},[1,1,1,1],'{padding}','NHWC',[1,1,1,1])
tf.image.total_variation({f:image})  tf.signal.frame({f:ranked},2,1)  tf.signal.dct({f:ranked})
tf.math.real(tf.signal.rfft({f:ranked}))  tf.abs(tf.signal.rfft({f:ranked}))
tf.signal.irfft({c:ranked})  tf.signal.fft({c:ranked})  tf.signal.overlap_and_add({f:matrix},1)
tf.random.stateless_uniform([2,{k}],[1,{k}])
tf.random.stateless_normal([{k}],[2,{k}],dtype={dtype})
""")

OTHERS = table("""
{i}+{j:fit}  {i}*{j:fit}  {i}-{j:fit}  {i}//(tf.abs({j:fit})+1)  {i}%(tf.abs({j:fit})+1)
tf.abs({i})  -{i}  tf.maximum({i},{j:fit})  {i}>{j:fit}  tf.bitwise.bitwise_and({i},{j:fit})
tf.bitwise.bitwise_xor({i},{j:fit})  {i}/(tf.abs({j:fit})+1)  tf.cast({i},{dtype})
tf.cast({i},tf.bool)  tf.sign({i})  tf.square({i})  tf.cumsum({i:ranked},axis={axis})
tf.sort({i:ranked})  tf.pow(tf.abs({i}),2)  tf.where({b},{i},{j:fit})  tf.math.floormod({i},3)
tf.truncatediv({i},2)  tf.clip_by_value({i},-1,2)  tf.range(tf.size({i}))
tf.reduce_sum(tf.cast({i},{dtype}))  tf.cast({b},{dtype})  tf.cast({b},tf.int32)  ~{b}
tf.logical_and({b},{b:fit})  tf.logical_xor({b},{b:fit})  {b}|{b:fit}  tf.logical_not({b})
tf.cast(tf.argmax({f:ranked}),{dtype})  tf.math.argmax({i:ranked})  tf.gather({i:ranked},{indices})
tf.reverse({i:ranked},[{axis}])  tf.bitwise.left_shift({i},1)  tf.bitwise.invert({i})
tf.cast({i},tf.int64)  tf.cast({i},tf.int32)  tf.bitcast({i},{i}.dtype)  {c}+{c:fit}  {c}*{c:fit}
{c}-{c:fit}  {c}/({c:fit}+3.0)  tf.abs({c}+0.1)  tf.math.conj({c})  tf.math.real({c})
tf.math.imag({c})  tf.math.angle({c}+0.1)  tf.exp({c}*0.3)  tf.square({c})  tf.sin({c}*0.3)
tf.reduce_sum({c},axis={axes})  tf.reduce_mean({c})  tf.transpose({c})
tf.math.real({c}*tf.math.conj({c}))  tf.linalg.adjoint({c:matrix})
{c:matrix}@tf.linalg.adjoint({c})  tf.sqrt({c}+3.0)  tf.math.log({c}+3.0)  tf.tanh({c}*0.3)
tf.cast({f},{complex})  tf.cast({c},{dtype})  tf.reshape({c},[-1])  tf.concat([{c:ranked},{c}],0)
tf.stack([{c},{c}])  tf.where({b},{c},{c:fit})  tf.math.reciprocal({c}+3.0)  tf.cumsum({c:ranked})
{c}**2  tf.sigmoid({c}*0.3)  tf.signal.ifft({c:ranked})  tf.math.real(tf.signal.fft({c:ranked}))
tf.gather({c:ranked},{indices})  tf.pad({c},{paddings})  tf.einsum('ij,kj->ik',{c:matrix},{c})
""")

#: Functions of elements or rows: `{r}` is the row that the lambda is given, filled like the others.
ROWWISE = table("""
tf.map_fn(lambda r:{row},{f:ranked})  tf.vectorized_map(lambda r:{row},{f:ranked})
tf.scan(lambda a,r:a*0.5+r,{f:ranked})
tf.scan(lambda a,r:a+tf.reduce_sum(r),{f:ranked},initializer=tf.constant(0.5,{dtype}))
tf.foldl(lambda a,r:a+tf.sin(r),{f:ranked})  tf.foldr(lambda a,r:a*0.5+r,{f:ranked})
tf.map_fn(lambda r:tf.reduce_max(r),{f:ranked},fn_output_signature={dtype})
tf.cond(tf.reduce_sum({f})>{n},lambda:{value},lambda:{value})
tf.cond(tf.reduce_mean({f})<0.3,lambda:{f}*2.0,lambda:{f}-1.0)
tf.while_loop(lambda i,a:i<{k},lambda i,a:(i+1,a*0.5+tf.sin(a)),[0,{f}])[1]
tf.while_loop(lambda a:tf.reduce_sum(tf.abs(a))>1.0,lambda a:[a*0.5],[{f}])[0]
tf.case([(tf.reduce_sum({f})>{n},lambda:{f}+1.0)],default=lambda:{value})
tf.switch_case({bit},[lambda:{f}*2.0,lambda:{f}*{f}])
tf.map_fn(lambda r:(r,tf.sin(r)),{f:ranked},fn_output_signature=({dtype},{dtype}))[{bit}]
tf.scan(lambda a,r:(a[0]+r,a[1]*r),({f:ranked},{f}))[{bit}]  tf.grad_pass_through(tf.identity)({f})
tf.recompute_grad(lambda a:tf.sin(a)*a)({f})
tf.vectorized_map(lambda r:r[0]*r[1],({f:ranked},{f:like}))
""")

RAGGED = table("""
tf.RaggedTensor.from_row_lengths({f:ranked},{lengths_of_rows})  tf.reduce_sum({R},axis=1)
tf.reduce_mean({R},axis=1)  tf.reduce_max({R},axis=1)  {R}*{n}  tf.sin({R})  {R}.to_tensor()
{R}.to_tensor({n})  {R}.flat_values  {R}+{R}  tf.concat([{R},{R}],axis=0)
tf.concat([{R},{R}],axis=1)  {R}[1:]  {R}[:,:1]  {R}[0]  tf.gather({R},[1,0])
tf.ragged.map_flat_values(tf.square,{R})  {R}.row_lengths()  tf.expand_dims({R},0)
tf.reduce_sum({R})  tf.reverse({R},[0])  tf.stack([{R},{R}]).to_tensor()
tf.where({R}>0,{R},{R}*2.0)  tf.map_fn(tf.reduce_sum,{R},fn_output_signature={dtype})
tf.sparse.from_dense({f:matrix})  tf.sparse.to_dense({S})  tf.sparse.reduce_sum({S},axis=1)
tf.sparse.sparse_dense_matmul({S},{columns_of_sparse})  {S}*{n}  {S}.values
tf.sparse.transpose({S})  tf.sparse.slice({S},[0,0],[1,2])  tf.sparse.add({S},{S})
tf.sparse.softmax({S})  tf.sparse.reorder({S})  tf.sparse.reshape({S},[-1])
tf.sparse.concat(0,[{S},{S}])  tf.sparse.map_values(tf.sin,{S})  tf.sparse.reduce_max({S},axis=0)
""")

#: For functions of rows, and for branches.
ROWS = [*UNARY, *BINARY, *REDUCTIONS]
