"""Convolutions and pools in random programs."""


class Windows:
    """A part of program_source.Program."""

    def window(self, env, out):
        """A convolution or a pool over a value as an image, or its gradient."""
        r = self.rng
        x = self.pick(env, lambda v: v.dtype in ("float32", "float64") and 2 <= v.rank <= 4 and min(v.shape) > 0 and self.small_enough(v.shape * 1))
        if x is None:
            return None
        image = {2: (1,) + x.shape + (1,), 3: (1,) + x.shape, 4: x.shape}[x.rank]
        if image[-1] > 40:
            return None
        stride, same = r.choice([1, 1, 2, 3]), r.random() < 0.5
        size = [r.randint(1, 3), r.randint(1, 3)]
        if not same and (size[0] > image[1] or size[1] > image[2]):
            same = True
        outs = [-(-d // stride) if same else (d - k) // stride + 1 for d, k in zip(image[1:3], size)]
        padding = "SAME" if same else "VALID"
        kind = r.choice(["conv2d", "conv2d", "depthwise", "max", "avg"])
        channels = {"conv2d": r.choice([1, 3, 8, 17]), "depthwise": image[-1] * r.choice([1, 1, 2])}.get(kind, image[-1])
        shape = (image[0], outs[0], outs[1], channels)
        if not self.small_enough(shape):
            return None
        self.fresh += 1
        t = f"t{self.fresh}"
        filters = f'data("{x.dtype}", [{size[0]}, {size[1]}, {image[-1]}, {channels if kind == "conv2d" else channels // image[-1]}], {r.randrange(100)})'
        given = x.name if x.rank == 4 else f"tf.reshape({x.name}, {list(image)})"
        text = {"conv2d": f'tf.nn.conv2d({given}, {filters}, {stride}, "{padding}")',
                "depthwise": f'tf.nn.depthwise_conv2d({given}, {filters}, [1, {stride}, {stride}, 1], "{padding}")',
                "max": f'tf.nn.max_pool2d({given}, {size}, {stride}, "{padding}")',
                "avg": f'tf.nn.avg_pool2d({given}, {size}, {stride}, "{padding}")'}[kind]
        if r.random() < 0.3:
            out.append((f"with tf.GradientTape() as tape{t}:", [f"tape{t}.watch({x.name})", f"{t} = {text}", f"{t} = {t} * {t}"]))
            return self.new(x.dtype, x.shape, f"tape{t}.gradient({t}, {x.name}, unconnected_gradients='zero')", out, env)
        if r.random() < 0.4:
            text = f"tf.nn.relu({text} + {self.literal(x.dtype)})"
        return self.new(x.dtype, shape, text, out, env)
