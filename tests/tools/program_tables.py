"""What random programs are made of: element types, operations by the types that they take, sizes; and what is known of a value."""

FLOATS = ["float32", "float64", "float16", "bfloat16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
NUMBERS = FLOATS + SIGNED + UNSIGNED
ALL = NUMBERS + ["bool"]
# The element types of one program.
KINDS = [["float32"], ["float32", "int32"], ["float32", "float64", "int64", "bool"], ALL, FLOATS, SIGNED + UNSIGNED, ["float32", "int32", "bool"]]

FLOAT_UNARY = ["tf.exp", "tf.sin", "tf.cos", "tf.tanh", "tf.sqrt", "tf.abs", "tf.sigmoid", "tf.floor", "tf.math.ceil", "tf.round", "tf.math.erf", "tf.square",
               "tf.math.rsqrt", "tf.negative", "tf.nn.relu", "tf.math.softplus", "tf.math.log1p", "tf.math.expm1", "tf.sign", "tf.math.log", "tf.nn.elu",
               "tf.nn.relu6", "tf.math.atan", "tf.math.reciprocal_no_nan", "tf.math.rint", "tf.math.lgamma", "tf.nn.silu", "tf.nn.gelu", "tf.nn.leaky_relu"]
INT_UNARY = ["tf.abs", "tf.negative", "tf.square", "tf.sign", "tf.bitwise.invert"]
FLOAT_BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} // {}", "{} % {}", "tf.maximum({}, {})", "tf.minimum({}, {})", "tf.pow({}, {})",
                "tf.math.squared_difference({}, {})", "tf.math.atan2({}, {})", "tf.math.divide_no_nan({}, {})", "tf.math.multiply_no_nan({}, {})",
                "tf.math.xlogy({}, {})", "tf.truncatemod({}, {})"]
INT_BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} // {}", "{} % {}", "tf.maximum({}, {})", "tf.minimum({}, {})", "tf.bitwise.bitwise_and({}, {})",
              "tf.bitwise.bitwise_or({}, {})", "tf.bitwise.bitwise_xor({}, {})", "tf.bitwise.left_shift({}, {})", "tf.bitwise.right_shift({}, {})"]
BOOL_BINARY = ["tf.logical_and({}, {})", "tf.logical_or({}, {})", "tf.math.logical_xor({}, {})", "tf.equal({}, {})", "tf.not_equal({}, {})"]
COMPARE = ["{} < {}", "{} <= {}", "{} > {}", "{} >= {}", "tf.equal({}, {})", "tf.not_equal({}, {})"]
DIFFERENTIABLE = ["{0} * {1}", "{0} / (1.0 + {1} * {1})", "tf.maximum({0}, {1})", "tf.reduce_mean({0}) * {1}", "tf.cumsum(tf.reshape({0}, [-1]))[::2]",
                  "tf.where({0} > {1}, {0}, {1})", "tf.nn.softmax(tf.reshape({0}, [1, -1]))", "tf.matmul(tf.reshape({0}, [1, -1]), tf.reshape({1}, [-1, 1]))"]
REDUCE = ["tf.reduce_sum", "tf.reduce_mean", "tf.reduce_max", "tf.reduce_min", "tf.reduce_prod"]
SMALL = [1, 1, 2, 3, 4, 5, 7, 16, 17, 33, 0]
LARGE = [(300000,), (513, 300), (4, 5000), (5000, 3), (2, 70, 1100), (4099,), (8193,), (64, 64), (1, 9000), (200, 1, 500)]


class Value:
    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        n = 1
        for d in self.shape:
            n *= d
        return n


def broadcast(a, b):
    out = []
    a, b = (1,) * (len(b) - len(a)) + tuple(a), (1,) * (len(a) - len(b)) + tuple(b)
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            return None
        out.append(y if x == 1 else x)
    return tuple(out)
