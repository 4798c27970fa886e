"""Strings: cut, joined, matched, hashed, made into numbers and moved about."""

import numpy as np

from .harness import attempt, attempts

#: Expressions.
PROGRAMS = [
    'tf.io.encode_base64(["a","hi?",""])',
    'tf.io.encode_base64(["a","ab"],pad=True)',
    'tf.io.decode_base64(["aGk_","YQ==","YQ",""])',
    'tf.io.decode_base64("a")',
    'tf.io.decode_base64("YQ=")',
    'tf.io.decode_base64("YQ?")',
    'tf.strings.lower(["AbC","ÄÖ"])',
    'tf.strings.lower(["AbC","ÄÖ"],encoding="utf-8")',
    'tf.strings.upper(["abc","äö"],encoding="utf-8")',
    'tf.strings.upper("abcé")',
    'tf.strings.lower("a",encoding="latin1")',
    "tf.strings.lower(1)",
    'tf.strings.strip(["  a b \\n","\\t"])',
    'tf.strings.length(["abc","äö",""])',
    'tf.strings.length(["abc","äö"],unit="UTF8_CHAR")',
    'tf.strings.length("a",unit="X")',
    'tf.strings.substr("hello",1,3)',
    'tf.strings.substr(["hello","abc"],[1,-2],[2,1])',
    'tf.strings.substr("hello",9,1)',
    'tf.strings.substr("hello",-9,1)',
    'tf.strings.substr("hello",2,100)',
    'tf.strings.substr("äöü",1,1,unit="UTF8_CHAR")',
    'tf.strings.substr([["ab"],["cd"]],[[0],[1]],[[1],[1]])',
    'tf.strings.substr(["hello","abc"],1,[1,2])',
    'tf.strings.substr("hello",[0,1],[1,1])',
    'tf.strings.substr("hello",1,-1)',
    'tf.strings.join(["a","b"])',
    'tf.strings.join([["a","b"],["c","d"]],separator="-")',
    'tf.strings.join(["a",["b","c"]])',
    'tf.strings.join([["a","b"],["c"]])',
    'tf.strings.join([["a","b"],["c","d","e"]])',
    "tf.strings.join([])",
    'tf.strings.reduce_join([["a","b"],["c","d"]])',
    'tf.strings.reduce_join([["a","b"],["c","d"]],axis=0)',
    'tf.strings.reduce_join([["a","b"],["c","d"]],axis=-1,keepdims=True,separator=" ")',
    'tf.strings.reduce_join([["a","b"],["c","d"]],axis=[0,1])',
    'tf.strings.reduce_join([["a","b"],["c","d"]],axis=[1,0])',
    'tf.strings.reduce_join([["a","b"],["c","d"]],axis=3)',
    'tf.strings.reduce_join("a")',
    'tf.strings.regex_replace(["abab","xb"],"a(.)",r"\\1z")',
    'tf.strings.regex_replace("abab","a","z",replace_global=False)',
    'tf.strings.regex_replace("ab","(","z")',
    'tf.strings.regex_replace("ab cd",r"\\b","-")',
    'tf.strings.regex_replace("aaa","x*","-")',
    'tf.strings.regex_replace("a.b","[[:punct:]]","")',
    'tf.strings.regex_replace(["A-b"],r"[!\\"#$%&()\\*\\+,-\\./:;<=>?@\\[\\\\\\]^_`{|}~\\\']","")',
    'tf.strings.regex_replace("äb",".","x")',
    'tf.strings.regex_replace("abc",r"(?P<n>b)",r"[\\0]")',
    'tf.strings.regex_replace("abc","b",r"\\3")',
    'tf.strings.regex_full_match(["ab","abc"],"ab.*c")',
    'tf.strings.regex_full_match("ab","a")',
    'tf.strings.split(["a b  c","","d"])',
    'tf.strings.split("a b")',
    'tf.strings.split(["a,b,,c",","],sep=",")',
    'tf.strings.split(["a,b,c"],sep=",",maxsplit=1)',
    'tf.strings.split(["a  b c"],maxsplit=1)',
    'tf.strings.split([["a b","c"],["d","e f g"]])',
    'tf.strings.split(["a<>b<>c"],sep="<>")',
    'tf.strings.split([" a b "])',
    'tf.strings.split("")',
    'tf.strings.split(["a b"],sep="")',
    'tf.strings.bytes_split(["ab","","c"])',
    'tf.strings.bytes_split("äb")',
    'tf.strings.unicode_split(["äb","c"],"UTF-8")',
    'tf.strings.unicode_split("äb","UTF-8")',
    'tf.strings.unicode_decode(["äb","c"],"UTF-8")',
    'tf.strings.unicode_decode("äb","UTF-8")',
    'tf.strings.unicode_decode([b"\\xffa"],"UTF-8")',
    'tf.strings.unicode_decode([b"\\xffa"],"UTF-8",errors="strict")',
    'tf.strings.unicode_decode([b"\\xffa"],"UTF-8",errors="ignore")',
    'tf.strings.unicode_decode([b"\\xffa"],"UTF-8",replacement_char=65)',
    'tf.strings.unicode_encode([[228,98],[99,0x1F600]],"UTF-8")',
    'tf.strings.unicode_encode([228,98],"UTF-16-BE")',
    'tf.strings.unicode_transcode(["ä"],"UTF-8","UTF-16-BE")',
    'tf.strings.unicode_transcode([b"\\xe4"],"ISO-8859-1","UTF-8")',
    'tf.strings.unicode_transcode([b"a\\xffb"],"UTF-8","UTF-8",errors="ignore")',
    'tf.strings.unicode_decode_with_offsets(["äb"],"UTF-8")',
    'tf.strings.unicode_split_with_offsets(["äb","c"],"UTF-8")',
    'tf.strings.to_number(["1","2.5"," 3 "])',
    'tf.strings.to_number("1e3")',
    'tf.strings.to_number("12",tf.int32)',
    'tf.strings.to_number("12",tf.int64)',
    'tf.strings.to_number("1.5",tf.int32)',
    'tf.strings.to_number("x")',
    'tf.strings.to_number("1.5",tf.float64)',
    'tf.strings.to_number("nan")',
    'tf.strings.to_number(["0x1A","inf"])',
    'tf.strings.to_number("99999999999",tf.int32)',
    "tf.strings.as_string([1,2])",
    'tf.strings.as_string([1.5,2.0,1e-10,1e20,float("nan"),float("inf")])',
    "tf.strings.as_string([1.5,2.0],precision=2)",
    "tf.strings.as_string([1.5,1234567.0],scientific=True)",
    "tf.strings.as_string([1.5,1234567.0],shortest=True)",
    "tf.strings.as_string([1.5,0.1,1e10],precision=3,shortest=True)",
    "tf.strings.as_string([True,False])",
    "tf.strings.as_string([1,22],width=5)",
    'tf.strings.as_string([1,22],width=5,fill="0")',
    'tf.strings.as_string([1,22],width=5,fill="-")',
    'tf.strings.as_string([1.5],width=8,fill="-",precision=1)',
    'tf.strings.as_string(["a"])',
    "tf.strings.as_string([1+2j])",
    "tf.strings.as_string([1,2],precision=2)",
    "tf.strings.as_string(tf.constant([1.1],tf.float64))",
    "tf.strings.as_string([1.5],scientific=True,shortest=True)",
    "tf.strings.as_string(tf.constant([1],tf.uint8))",
    'tf.strings.as_string([1],fill="ab",width=3)',
    "tf.as_string(3)",
    'tf.strings.format("x: {}",tf.constant([1,2,3]))',
    'tf.strings.format("x: {}, {}",(tf.constant([1.5,2]),tf.constant("a")))',
    'tf.strings.format("{}",tf.range(20))',
    'tf.strings.format("{}",tf.reshape(tf.range(16),[4,4]),summarize=1)',
    'tf.strings.format("{}",tf.constant(["a","b"]))',
    'tf.strings.format("a {}",(1,2))',
    'tf.strings.format("%s a",tf.constant(1.0),placeholder="%s")',
    'tf.strings.to_hash_bucket(["a","b","hello world"],100)',
    'tf.strings.to_hash_bucket_fast(["a","b","hello world","",  "x"*40, "y"*100],1000000)',
    'tf.strings.to_hash_bucket_strong(["a","b","hello world",""],1000000,[1,2])',
    'tf.strings.to_hash_bucket_strong(["a","b"],1000,[1])',
    'tf.strings.to_hash_bucket_fast(["a"],0)',
    "tf.strings.to_hash_bucket_fast([1],5)",
    'tf.strings.ngrams(["a","b","c"],2)',
    'tf.strings.ngrams(["a","b","c"],2,padding_width=1)',
    'tf.strings.ngrams([["a","b","c"],["d","e","f"]],2)',
    'tf.strings.ngrams(["a","b","c"],[1,2])',
    'tf.strings.ngrams(tf.ragged.constant([["a","b","c"],["d"]]),2)',
    'tf.strings.ngrams(["a","b"],3)',
    'tf.strings.ngrams(["a","b"],3,preserve_short_sequences=True)',
    'tf.strings.ngrams(["a","b"],3,pad_values="p")',
    'tf.strings.ngrams(["a","b"],3,pad_values=("L","R"),padding_width=1)',
    'tf.strings.ngrams(["a","b","c"],2,separator="|")',
    'tf.strings.unsorted_segment_join(["a","b","c"],[0,1,0],3)',
    'tf.strings.unsorted_segment_join(["a","b","c"],[0,1,0],2,separator=":")',
    'tf.constant("a")+tf.constant("b")',
    'tf.constant(["a","b"])+"c"',
    'tf.constant(["a","b"])==tf.constant(["a","c"])',
    'tf.constant(["a","b"])!="a"',
    'tf.where([True,False],["a","b"],["c","d"])',
    'tf.where([True,False],"a","b")',
    'tf.gather(["a","b"],[1,0,1])',
    'tf.gather_nd([["a","b"]],[[0,1]])',
    'tf.reshape(["a","b"],[2,1])',
    'tf.concat([["a"],["b","c"]],0)',
    'tf.stack(["a","b"])',
    'tf.expand_dims(["a"],0)',
    'tf.squeeze([["a"]])',
    'tf.tile(["a","b"],[2])',
    'tf.repeat(["a","b"],2)',
    'tf.unique(["a","b","a"])',
    'tf.boolean_mask(["a","b"],[True,False])',
    'sorted(tf.random.shuffle(["a","b","c"]).numpy().tolist())',
    'tf.reverse(["a","b"],[0])',
    'tf.transpose([["a","b"]])',
    'tf.zeros_like(["a"])',
    'tf.size(["a","b"])',
    'tf.fill([2],"a")',
    'tf.split(["a","b"],2)',
    'tf.unstack(["a","b"])',
    'tf.pad(["a"],[[1,1]],constant_values="x")',
    'tf.broadcast_to("a",[2])',
    'tf.slice(["a","b","c"],[1],[1])',
    'tf.constant(["a","b","c"])[1:]',
    'tf.identity(["a"])',
    'tf.cast(["1"],tf.int32)',
    'tf.strings.upper(tf.ragged.constant([["a"],["b","c"]]))',
    'tf.strings.split(tf.ragged.constant([["a b"],["c"]]))',
    'tf.strings.join([tf.ragged.constant([["a"],["b","c"]]),"x"])',
    "tf.as_string(tf.ragged.constant([[1],[2,3]]))",
    'tf.strings.length(tf.ragged.constant([["a"],["bb"]]))',
    'tf.strings.to_hash_bucket_fast(tf.ragged.constant([["a"],["bb"]]),10)',
    'tf.strings.regex_replace(tf.ragged.constant([["a"],["bb"]]),"b","c")',
    'tf.strings.substr(tf.ragged.constant([["ab"],["bb"]]),0,1)',
    'tf.strings.reduce_join(tf.ragged.constant([["ab","c"],["bb"]]),axis=-1,separator=" ")',
    'tf.strings.to_number(tf.ragged.constant([["1","2"],["3"]]))',
    'tf.equal(tf.ragged.constant([["ab","c"],["bb"]]),"c")',
    'tf.strings.lower(tf.ragged.constant([["AB"]]))',
    'tf.strings.strip(tf.ragged.constant([[" AB"]]))',
    'tf.strings.bytes_split(tf.ragged.constant([["ab"],["c"]]))',
    'tf.strings.unicode_split(tf.ragged.constant([["ab"],["c"]]),"UTF-8")',
    'tf.ragged.cross([tf.ragged.constant([["a"],["b"]]),tf.ragged.constant([["c","d"],["e"]])])',
    'tf.ragged.cross_hashed([tf.ragged.constant([["a"],["b"]]),tf.ragged.constant([["c","d"],["e"]])],num_buckets=1000)',
    'tf.sparse.cross_hashed([tf.constant([["a"],["b"]]),tf.constant([["c"],["e"]])],num_buckets=1000).values',
    'tf.sparse.cross_hashed([tf.constant([[1],[2]]),tf.constant([["c"],["e"]])],num_buckets=1000).values',
    'tf.sparse.cross_hashed([tf.constant([[1,5],[2,3]]),tf.constant([["c"],["e"]])],num_buckets=100).indices',
    'tf.sparse.cross([tf.constant([["a"],["b"]]),tf.constant([["c"],["e"]])]).values',
    'tf.sparse.cross([tf.constant([["a"],["b"]]),tf.constant([[1.5],[2.5]])]).values',
    'tf.sparse.cross([tf.constant([[True]]),tf.sparse.from_dense([["c","e"]])]).values',
    'tf.sparse.cross_hashed([tf.constant([["a"],["b"]]),tf.constant([["c"]])],num_buckets=9)',
    'tf.sparse.cross([tf.sparse.from_dense([["a"]]),tf.constant([["c"],["d"]])])',
    'tf.sparse.cross([tf.constant(["a","b"])])',
    'tf.ragged.cross([tf.ragged.constant([["a"]]),tf.ragged.constant([["a"],["b"]])])',
    'tf.strings.split("a,b", tf.constant(","))',
    'tf.strings.regex_replace("a+b", r"\\\\+", "-")',
    'tf.strings.regex_replace("aXbX", "X$", "")',
    'tf.strings.regex_replace("tap", "[^a-z&&]", "")',
    'tf.strings.regex_replace("Ab1 c", r"(?i)[a-b]", "z")',
    'tf.strings.regex_replace("abc", "b*", "-")',
    'tf.strings.regex_full_match("a\\nb", "a.b")',
    'tf.strings.to_number(["-3", "+4", ""])',
    'tf.strings.to_number("1_0")',
    'tf.strings.join([["a"], tf.constant("b"), "c"])',
    "tf.strings.as_string([[-1.5, 3e8]], shortest=True)",
    'tf.strings.as_string([-5], width=6, fill="0")',
    'tf.strings.unicode_decode([b"\\xe4\\xb8"], "UTF-8")',
    'tf.strings.unicode_decode([b"a\\x01"], "UTF-8", replace_control_characters=True)',
    'tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], [], ["d"]]), 2, pad_values="")',
    'tf.strings.ngrams(["a"], 0)',
]


def parts(x):
    if isinstance(x, (list, tuple)):
        return [parts(y) for y in x]
    return (parts(x.values), x.row_splits) if hasattr(x, "row_splits") else x


def _case(program):
    return lambda tf: attempt(lambda: parts(eval(program, {"tf": tf})))


CASES = {program: _case(program) for program in PROGRAMS}


def case_function(tf):
    @tf.function
    def words(x):
        return tf.strings.split(tf.strings.lower(x)).to_tensor(""), tf.strings.length(x)

    return words(tf.constant(["A b", "C"]))


def case_unicode_script(tf):
    codes = tf.strings.unicode_decode(["Hello, world.", "世界こんにちは", ""], "UTF-8")
    some = tf.range(0, 0x110000, 97)
    ends = tf.constant([-1, 0, 0x10FFFF, 0x110000, 2**31 - 1])
    recorded = tf.function(lambda x: tf.strings.unicode_script(x))
    return attempts(
        tf,
        {
            "ragged": lambda tf: tf.strings.unicode_script(codes).flat_values,
            "rows": lambda tf: tf.strings.unicode_script(codes).row_splits,
            "all": lambda tf: tf.strings.unicode_script(some),
            "ends": lambda tf: tf.strings.unicode_script(ends),
            "recorded": lambda tf: recorded(some),
            "scalar": lambda tf: tf.strings.unicode_script(65),
            "empty": lambda tf: tf.strings.unicode_script(tf.zeros([0, 2], tf.int32)),
            "int64": lambda tf: tf.strings.unicode_script(tf.constant([1], tf.int64)),
            "float": lambda tf: tf.strings.unicode_script([1.5]),
            "text": lambda tf: tf.strings.unicode_script("a"),
        },
        words=0,
    )


def case_split_into_so_many_words(tf):
    texts = ["7", " 7 ", "a b", "a  b  c ", "", "  ", "a b c"]
    return {
        most: tf.strings.split(texts, maxsplit=most).to_list() for most in (-1, 0, 1, 2, 3, None)
    }


def case_as_string_of_unsigned(tf):
    return [
        tf.strings.as_string(tf.constant([3], dtype), fill=fill, width=width)
        for dtype in ("uint8", "uint64", "int8")
        for fill in ("", "0", " ", "+", "-")
        for width in (-1, 4)
    ]


def case_as_string_of_infinities(tf):
    x = tf.constant([np.inf, -np.inf, np.nan, 1.5])
    return [
        tf.strings.as_string(x, precision=2, fill=fill, width=width, scientific=scientific)
        for fill in ("", "0", " ", "+", "-")
        for width in (-1, 8)
        for scientific in (False, True)
    ]


def case_segments_of_texts_that_are_not_there(tf):
    join = tf.strings.unsorted_segment_join
    calls = (
        lambda: join(["a", "b"], [1, -1], 3),
        lambda: join(["a", "b"], [1, 3], 3),
        lambda: join(["a", "b"], [[1, 1]], 3),
        lambda: join(["a", "b"], [1], 3),
        lambda: join([["a", "b"]], [1], 3),
        lambda: tf.function(join)(tf.constant(["a", "b"]), tf.constant([1, 3]), 3),
    )
    return [attempt(call, words=3) for call in calls[:-1]] + [attempt(calls[-1], words=0)]


def case_replaced_by_lazy_patterns(tf):
    """Patterns that match nothing where they could match a letter."""
    patterns = ["a*?", "a??", "a*?b*", "[^a]*?", "(a|)", "", "b*", "^", "$"]
    return {
        pattern: tf.strings.regex_replace(["aaa", "abb", "", "bä"], pattern, r"<\0>")
        for pattern in patterns
    }


def case_unsigned_numbers_of_texts(tf):
    texts = ["5", "-1", "4294967296", "18446744073709551615", "18446744073709551616", " 7 ", "1.0"]

    def of(dtype):
        return {x: attempt(lambda: tf.strings.to_number([x], dtype), words=3) for x in texts}

    return of(tf.uint32), of(tf.uint64)


def case_of_no_texts(tf):
    def texts(*shape):
        return tf.constant([], tf.string, shape)

    return {
        "joined": [tf.strings.reduce_join(texts(0, 1), axis) for axis in (0, 1, -1, None)],
        "kept": tf.strings.reduce_join(texts(2, 0, 3), [0, 2], keepdims=True),
        "ngrams": tf.strings.ngrams(texts(2, 0), 2),
        "padded": tf.strings.ngrams(texts(2, 0), 2, pad_values=("a", "b")),
        "rows": [
            tf.strings.ngrams(
                tf.RaggedTensor.from_row_lengths(given, [0, given.shape[0]]),
                2,
                pad_values=("a", "b"),
            ).row_lengths()
            for given in (tf.constant([], tf.string), tf.constant(["x"]))
        ],
        "fingerprints": [tf.fingerprint(texts(0, 2)), tf.fingerprint(tf.zeros([0, 3]))],
    }


def case_moved_texts(tf):
    """Matrices transposed, blocks and the beginnings of sequences, in functions too."""
    x = tf.constant([["a", "b"], ["c", ""]])
    return tf.linalg.matrix_transpose(x), tf.linalg.adjoint(x[tf.newaxis])


def case_numbers_in_place_of_texts(tf):
    """Tensors are refused by the kernels, numbers of Python where they are converted."""
    s, x = tf.strings, tf.constant([1.0])
    functions = [
        *(s.length, s.lower, s.upper, s.strip, s.to_number, s.split, s.bytes_split, s.reduce_join),
        *(tf.io.encode_base64, tf.io.decode_base64, tf.io.decode_json_example),
        lambda x: s.substr(x, 0, 1),
        lambda x: s.join([x, x]),
        lambda x: s.to_hash_bucket_fast(x, 3),
        lambda x: s.to_hash_bucket_strong(x, 3, [1, 2]),
        lambda x: s.unicode_transcode(x, "UTF-8", "UTF-8"),
        lambda x: s.ngrams(x, 2),
        lambda x: s.unsorted_segment_join(x, [0], 1),
    ]
    given = [x, tf.Variable(x), tf.constant([1])]
    return [[attempt(f, value, words=0) for value in given] for f in functions]
    image = tf.reshape(x, [1, 1, 1, 4])

    def moved(image):
        deep = tf.nn.depth_to_space(image, 2)
        sequences = tf.reverse_sequence(tf.stop_gradient(x), [2, 1], 1, 0)
        return deep, tf.nn.space_to_depth(deep, 2), sequences

    found = moved(image), tf.function(moved)(image)
    return tf.linalg.matrix_transpose(x), tf.linalg.adjoint(x[tf.newaxis]), found


def case_texts_that_are_no_numbers(tf):
    return tf.argmax(tf.constant([["a", "b"], ["c", ""]]))
