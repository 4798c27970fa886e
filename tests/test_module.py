"""tf.Module and tf.name_scope. Expected values are TensorFlow 2.21's."""

import copy
import threading

import pytest

import tape_compat as tf
from tape_compat._src.library.module import camel_to_snake
from tape_compat._src.values.names import current_name_scope


class Part(tf.Module):
    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def var(name, **options):
    return tf.Variable(1.0, name=name, **options)


def names(variables):
    return [v.name.removesuffix(":0") for v in variables]


def test_order_is_by_attribute_name_and_own_before_parts():
    deep = Part(v=var("deep"))
    whole = Part(
        x=Part(z=var("xz"), k=deep),
        y=var("y"),
        zz=Part(v=var("zzv")),
        _hidden=var("hidden"),
        a=[var("a0", trainable=False), {"z": var("az"), "y": var("ay")}],
    )
    assert names(whole.variables) == ["hidden", "a0", "ay", "az", "y", "xz", "deep", "zzv"]
    assert names(whole.trainable_variables) == ["hidden", "ay", "az", "y", "xz", "deep", "zzv"]
    assert names(whole.non_trainable_variables) == ["a0"]
    assert whole.submodules == (whole.x, whole.zz, deep)
    assert isinstance(whole.variables, tuple)


def test_each_is_listed_once_and_cycles_end():
    shared = var("w")
    part = Part(w=shared)
    whole = Part(a=part, b=[part, {"c": part}], w=shared)
    part.up = whole
    whole.me = whole
    assert names(whole.variables) == ["w"]
    assert whole.submodules == (part,)
    assert part.submodules == (whole,)


def test_what_is_not_searched():
    class WithProperty(tf.Module):
        on_the_class = var("class")

        @property
        def computed(self):
            return var("computed")

    assert WithProperty().variables == ()
    assert Part(items={1, 2}, f=lambda: None, text="abc", none=None).variables == ()


def test_ignored_attributes():
    class Ignoring(Part):
        _TF_MODULE_IGNORED_PROPERTIES = frozenset(("x",))

    assert names(Ignoring(x=var("x"), y=var("y")).variables) == ["y"]


def test_flatten():
    whole = Part(t=tf.constant(1.0), p=Part(v=var("v")), w=[var("w")])
    tensors = list(whole._flatten(predicate=lambda x: isinstance(x, tf.Tensor)))
    assert tensors == [whole.t]
    own = list(whole._flatten(recursive=False, predicate=lambda x: isinstance(x, tf.Variable)))
    assert names(own) == ["w"]
    paths = whole._flatten(with_path=True, predicate=lambda x: isinstance(x, tf.Variable))
    assert [path for path, _ in paths] == [("w", 0), ("p", "v")]
    everything = list(whole._flatten(recursive=False))
    assert whole.p in everything and whole.name in everything
    backwards = whole._flatten(
        recursive=False,
        predicate=lambda x: isinstance(x, (tf.Variable, tf.Module)),
        attribute_traversal_key=lambda name: -ord(name[0]),
    )
    assert list(backwards) == [*whole.w, whole.p]


def test_paths_lead_to_an_object_as_often_as_it_is_held():
    whole = Part(x=Part(k=Part()), zz=Part())
    whole.me = whole
    whole.x.again = whole.zz
    found = whole._flatten(with_path=True, predicate=lambda x: isinstance(x, tf.Module))
    assert [".".join(path) for path, _ in found] == [
        *("me", "x", "zz", "me.me", "me.x", "me.zz", "x.again", "x.k")
    ]


def test_expand_composites():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))

    def tensors(module, **options):
        return list(module._flatten(predicate=lambda x: isinstance(x, tf.Tensor), **options))

    assert tensors(Part(i=slices)) == []
    assert len(tensors(Part(i=slices), expand_composites=True)) == 2


def test_an_attribute_that_cannot_be_read():
    with pytest.raises(ValueError, match="Error processing property 'd' of "):
        Part(d={"a": 1, 2: var("v")}).variables


def test_names():
    assert Part().name == "part"
    assert tf.Module(name="foo").name == "foo"
    for bad in ("a/b", "1a", "a-b", "a b", ""):
        with pytest.raises(ValueError, match=r"is not a valid module name\. Module names must be"):
            tf.Module(name=bad)
    with pytest.raises(TypeError, match="must be strings"):
        tf.Module(name=3)


@pytest.mark.parametrize(
    "camel, snake",
    [
        ("CamelCaseHTTPThing2", "camel_case_http_thing2"),
        ("S2D", "s2_d"),
        ("_Priv", "__priv"),
        ("A1B2", "a1_b2"),
        ("MyMLP", "my_mlp"),
        ("Dense", "dense"),
    ],
)
def test_snake_case(camel, snake):
    assert camel_to_snake(camel) == snake


def test_without_init():
    class Lazy(tf.Module):
        def __init__(self):
            self.v = var("v")

    assert names(Lazy().variables) == ["v"]
    with pytest.raises(AttributeError, match="_name"):
        Lazy().name


def test_name_scope_of_a_module():
    class Layer(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.outside = var("v")
            with self.name_scope:
                self.inside = var("w")

        @tf.Module.with_name_scope
        def build(self, x, *, suffix=""):
            """Documented."""
            return tf.Variable(x, name=f"b{suffix}").name

    with tf.name_scope("outer"):
        layer = Layer("hey")
    assert (layer.outside.name, layer.inside.name) == ("outer/v:0", "outer/hey/w:0")
    assert layer.name_scope.name == "outer/hey/"
    assert layer.build(1.0, suffix="2") == "outer/hey/b2:0"
    assert (Layer.build.__name__, Layer.build.__doc__) == ("build", "Documented.")


def test_copy():
    module = Part(w=var("w"))
    other = copy.deepcopy(module)
    other.w.assign(5.0)
    assert (module.w.numpy(), other.w.numpy(), other.name) == (1.0, 5.0, "part")


def test_name_scopes_nest_and_come_back():
    assert current_name_scope() == ""
    with tf.name_scope("a") as a:
        assert (a, var("q").name, tf.Variable(1.0).name) == ("a/", "a/q:0", "a/Variable:0")
        with tf.name_scope("b") as b:
            assert (b, current_name_scope()) == ("a/b/", "a/b/")
            for name, scope in (("c/", "c/"), ("", ""), ("x/y", "a/b/x/y/"), ("x y", "a/b/x y/")):
                with tf.name_scope(name) as found:
                    assert found == scope
                    assert var("v").name == f"{scope}v:0"
        assert current_name_scope() == "a/"
    with tf.name_scope(b):
        assert var("v").name == "a/b/v:0"
    assert current_name_scope() == ""


def test_a_name_scope_can_be_used_twice():
    scope = tf.name_scope("z")
    assert scope.name == "z"
    with scope as outer, scope as inner:
        assert (outer, inner) == ("z/", "z/z/")
    assert current_name_scope() == ""
    with pytest.raises(AttributeError):
        scope.name = "y"


def test_an_exception_leaves_the_scope():
    with pytest.raises(KeyError), tf.name_scope("a"):
        raise KeyError
    assert current_name_scope() == ""


@pytest.mark.parametrize("name", [None, 1, b"a"])
def test_scope_names_are_strings(name):
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        tf.name_scope(name)


def test_name_scopes_are_per_thread():
    found = []
    with tf.name_scope("a"):
        thread = threading.Thread(target=lambda: found.append(current_name_scope()))
        thread.start()
        thread.join()
    assert found == [""]


def test_gradients_of_a_module():
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0])
            self.b = tf.Variable([0.5])

        def __call__(self, x):
            return x * self.w + self.b

    layer = Scale()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[3.0, 4.0]])))
    grads = tape.gradient(loss, layer.trainable_variables)
    assert [g.numpy().tolist() for g in grads] == [[2.0], [3.0, 4.0]]
