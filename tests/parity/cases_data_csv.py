"""`tf.io.decode_csv`, `CsvDataset`, `make_csv_dataset`, `SqlDataset`, and compressed files."""

import contextlib
import gzip
import sqlite3
import tempfile
import zlib

from .harness import attempt, attempts, options

NEEDS = ("io.decode_csv", "data.experimental.CsvDataset", "data.experimental.make_csv_dataset")


def case_decode(tf):
    decode = tf.io.decode_csv
    numbers = [[0], [0.0], [""]]
    return [
        decode("1,2.5,x", numbers),
        decode(["1,2,x", " 4 , 5 , y "], [[0], tf.constant([], tf.int64), "z"]),
        decode([",2", "+3,007"], [[7], [0]]),
        decode(['"a,b","c""d",e'], [[""]] * 3),
        decode(['"a,b",c'], [[""]] * 3, use_quote_delim=False),
        decode(['"a\nb",c'], [[""], [""]]),
        decode(["a\tb"], [[""], [""]], field_delim="\t"),
        decode(["NA,NA,1"], [[1], ["q"], [2.0]], na_value="NA"),
        decode(["1,2,3"], [[0], [0]], select_cols=[0, 2]),
        decode(["nan,inf,-inf,+1,1e5,.5,5."], [[0.0]] * 7),
        decode([["1,2"], ["3,4"]], [[0], [0]]),
        decode(["1,"], [0, 5]),
    ]


@options(words=6)
def case_decode_refused(tf):
    def refused(records, defaults, **more):
        return lambda tf: tf.io.decode_csv(records, defaults, **more)

    programs = {
        "missing": refused([",2"], [tf.constant([], tf.int32), [0]]),
        "line ends": refused(["a,c\r\n"], [[""], [""]]),
        "delimiter": refused(["a;;b"], [[""], [""]], field_delim=";;"),
        "order": refused(["1,2,3"], [[0], [0]], select_cols=[2, 0]),
        "selected": refused(["1,2,3"], [[0], [0]], select_cols=[0]),
        "beyond": refused(["1,2,3"], [[0], [0]], select_cols=[0, 5]),
        "few": refused(["1,2"], [[0]] * 3),
        "many": refused(["1,2,3"], [[0]] * 2),
        "integer": refused(["1,x"], [[0], [0]]),
        "float": refused(["x"], [[0.0]]),
        "fraction": refused(["1.5"], [[0]]),
        "large": refused(["99999999999"], [[0]]),
        "hexadecimal": refused(["0x10"], [[0]]),
        "quote inside": refused(['a"b,c'], [[""], [""]]),
        "quote open": refused(['"ab,c'], [[""], [""]]),
        "quote ended": refused(['"a"b,c'], [[""], [""]]),
        "nothing": refused([""], [[1], [2]]),
        "rank": refused(["1"], [[[0]]]),
        "two": refused(["1"], [[0, 1]]),
    }
    return attempts(tf, programs)


def case_decode_in_functions(tf):
    lines = tf.data.Dataset.from_tensor_slices(["1,2", "3,4"])
    decoded = lines.map(lambda line: tf.io.decode_csv(line, [[0], [0.0]]))
    function = tf.function(lambda line: tf.io.decode_csv(line, [[0], [0.0]]))
    return list(decoded), repr(decoded.element_spec), function(tf.constant(["1,2"]))


class Folder:
    """A folder to write files in."""

    def __init__(self, path):
        self.path = path

    def __call__(self, name, text, compress=bytes):
        path = f"{self.path}/{name}"
        with open(path, "wb") as file:
            file.write(compress(text.encode()))
        return path


def shown(dataset):
    return list(dataset), repr(dataset.element_spec), int(dataset.cardinality())


def case_records(tf):
    made = tf.data.experimental.CsvDataset
    with tempfile.TemporaryDirectory() as path:
        write = Folder(path)
        a = write("a", 'x,y,z\n1,2.5,p\n3,,q\n"5",6,"r,s"\n')
        b = write("b", "x,y,z\n7,8,t")
        kinds = [tf.int32, [0.0], tf.string]
        return [
            shown(made(a, kinds, header=True)),
            shown(made([a, b], kinds, header=True)),
            shown(made(a, [[0], [""]], header=True, select_cols=[0, 2])),
            shown(made(a, [[0], [""]], header=True, exclude_cols=[1])),
            shown(made(write("n", "1,NA\nNA,3\n"), [[9], [8]], na_value="NA")),
            shown(made(write("d", "1;NA\n2;3\n"), [[9], [""]], field_delim=";")),
            shown(made(write("g", "1,2\n", gzip.compress), [[9], [8]], "GZIP")),
            shown(made(write("z", "1,2\n", zlib.compress), [[9], [8]], "ZLIB")),
            shown(made(write("blank", "1\n\n3\n"), [[9]])),
            shown(made(write("ends", "1,a\r\n2,b\r\n"), [[9], [""]])),
            shown(made(write("lines", '1,"a\nb"\n2,"c""d"\n'), [[9], [""]])),
            shown(made(write("bare", '1,"a\n'), [[9], [""]], use_quote_delim=False)),
            shown(made(write("empty", ""), [[9]])),
            repr(made(a, kinds, header=True)),
        ]


@options(words=5)
def case_records_refused(tf):
    made = tf.data.experimental.CsvDataset
    two = [[9], [8]]
    with tempfile.TemporaryDirectory() as path:
        write = Folder(path)

        def ran(text, defaults=two, **more):
            return lambda tf: list(made(write("a", text), defaults, **more))

        programs = {
            "missing": ran("1,\n", [tf.int32, tf.int32]),
            "few": ran("1,2\n1\n"),
            "many": ran("1,2\n1,2,3\n"),
            "blank": ran("1,2\n\n3,4\n"),
            "quote": ran('1,a"b\n', ["", ""]),
            "quote open": ran('1,"ab\n', ["", ""]),
            "integer": ran("x,1\n"),
            "header": ran("", header=True),
            "order": ran("1,2\n", select_cols=[1, 0]),
            "selected": ran("1,2\n", select_cols=[1]),
        }
        return attempts(tf, programs), attempt(list, made("/there/is/none", two), words=0)


def case_tables(tf):
    made = tf.data.experimental.make_csv_dataset
    once = {"num_epochs": 1, "shuffle": False}
    with tempfile.TemporaryDirectory() as path:
        write = Folder(path)
        a = write("a.csv", 'x,y,z\n1,2.5,p\n3,,q\n"5",6,"r,s"\n')
        b = write("b.csv", "x,y,z\n7,8,t\n")
        wide = write("wide", "a,b,c,d\n99999999999,1e300,1.5,t\n1,2,3,4\n")
        mixed = write("mixed", "a\n1\n2\nx\n")
        return [
            shown(made(a, 2, **once)),
            shown(made(a, 2, label_name="z", **once)),
            shown(made(path + "/[ab].csv", 4, **once)),
            shown(made([a, b], 4, label_name="x", **once)),
            shown(made(b, 2, ["u", "v", "w"], header=False, **once)),
            shown(made(a, 3, column_defaults=[tf.int64, [7.0], ""], **once)),
            shown(made(a, 3, select_columns=["x", "z"], **once)),
            shown(made(a, 3, select_columns=[0, 2], label_name="z", **once)),
            shown(made(wide, 2, **once)),
            shown(made(write("na", "a,b\nNA,1\n2.5,NA\n"), 2, na_value="NA", **once)),
            shown(made(mixed, 3, num_rows_for_inference=2, ignore_errors=True, **once)),
            shown(made(a, 2, num_epochs=2, shuffle=False)),
            repr(made(a, 2).element_spec),
            int(made(a, 2).cardinality()),
        ]


@options(words=6)
def case_tables_refused(tf):
    made = tf.data.experimental.make_csv_dataset
    with tempfile.TemporaryDirectory() as path:
        write = Folder(path)
        a = write("a.csv", "x,y,z\n1,2.5,p\n")
        other = write("other", "x,y,w\n1,2,3\n")
        programs = {
            "name": lambda tf: made(a, 3, select_columns=["nope"]),
            "number": lambda tf: made(a, 3, select_columns=[9]),
            "twice": lambda tf: made(a, 3, select_columns=["x", "x"]),
            "label": lambda tf: made(a, 3, label_name="nope"),
            "no file": lambda tf: made("/there/is/none*", 3),
            "names": lambda tf: made(a, 3, column_names=["x", "x", "z"]),
            "headers": lambda tf: made([a, other], 3),
            "widths": lambda tf: made(write("widths", "a,b\n1,2\n2\n"), 3),
        }
        return attempts(tf, programs), attempt(made, write("empty", ""), 3, words=6)


def case_database(tf):
    made = tf.data.experimental.SqlDataset
    with tempfile.TemporaryDirectory() as path:
        path += "/db"
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("create table t(a integer, b text, c real, d blob)")
            connection.execute("insert into t values(1, 'x', 1.5, x'00ff')")
            connection.execute("insert into t values(2, null, null, null)")
        connection.close()
        everything = (tf.int64, tf.string, tf.float64, tf.string)
        wrong = [
            ("select a, b from t", (tf.int64,)),
            ("select a from nope", (tf.int64,)),
        ]
        return [
            shown(made("sqlite", path, "select a, b, c, d from t", everything)),
            shown(made("sqlite", path, "select a, a, c from t", (tf.bool, tf.int8, tf.string))),
            shown(made("sqlite", path, "select b from t", (tf.int64,))),
            [attempt(list, made("sqlite", path, q, kinds), words=6) for q, kinds in wrong],
            attempt(made, "mysql", path, "select a from t", (tf.int64,), words=8),
            attempt(made, "sqlite", path, "select a from t", (tf.float32,), words=8),
        ]


def case_compressed_files(tf):
    found = []
    with tempfile.TemporaryDirectory() as path:
        write = Folder(path)
        for kind, compress in (("GZIP", gzip.compress), ("ZLIB", zlib.compress)):
            lines = write("lines", "one\ntwo\r\n\nthree", compress)
            fixed = write("fixed", "HHaabbccF", compress)
            pieces = tf.data.FixedLengthRecordDataset
            wrong = pieces(fixed, 2, 2, 0, compression_type=kind)
            plain = tf.data.TextLineDataset(write("plain", "abc\ndef"), kind)
            found += [
                list(tf.data.TextLineDataset(lines, kind)),
                list(pieces(fixed, 2, 2, 1, compression_type=kind)),
                attempt(list, wrong, words=6),
                attempt(list, plain, words=0),
            ]
    return found
