"""Assertions that several tests share."""
import math


class FloatsAreIdenticalMixin:
    def assertFloatsAreIdentical(self, x, y):
        if math.isnan(x) and math.isnan(y):
            return
        if x == y and (x != 0.0 or math.copysign(1.0, x) == math.copysign(1.0, y)):
            return
        self.fail(f"floats {x!r} and {y!r} are not identical")


class ComplexesAreIdenticalMixin(FloatsAreIdenticalMixin):
    def assertComplexesAreIdentical(self, x, y):
        self.assertFloatsAreIdentical(x.real, y.real)
        self.assertFloatsAreIdentical(x.imag, y.imag)


class ExceptionIsLikeMixin:
    def assertExceptionIsLike(self, exc, template):
        if exc is None and template is None:
            return
        if template is None:
            self.fail(f"unexpected exception: {exc}")
        if exc is None:
            self.fail(f"expected an exception like {template!r}, got None")
        if not isinstance(exc, ExceptionGroup):
            self.assertEqual(exc.__class__, template.__class__)
            self.assertEqual(exc.args[0], template.args[0])
        else:
            self.assertEqual(exc.message, template.message)
            self.assertEqual(len(exc.exceptions), len(template.exceptions))
            for e, t in zip(exc.exceptions, template.exceptions):
                self.assertExceptionIsLike(e, t)
