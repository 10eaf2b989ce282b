package io.github.tornadotransformers.taskgraphs.probe;

import java.math.BigDecimal;
import java.util.stream.Stream;

/**
 * Devices that compute wrongly, each in its way.
 *
 * @param first the fault that others follow from
 */
record FaultyArithmetic(String name, Fault first, Arithmetic arithmetic) {
    static Stream<FaultyArithmetic> all() {
        return Stream.of(
                new FaultyArithmetic("flushes what it reads", Fault.SUBNORMALS, new Flushing(true, false)),
                new FaultyArithmetic("flushes what it makes", Fault.SUBNORMALS, new Flushing(false, true)),
                new FaultyArithmetic("flushes", Fault.SUBNORMALS, new Flushing(true, true)),
                new FaultyArithmetic("flushes terms", Fault.SUBNORMALS, new Arithmetic() {
                    @Override
                    public float add(float a, float b) {
                        return flushed(flushed(a) + flushed(b));
                    }

                    @Override
                    public float subtract(float a, float b) {
                        return flushed(flushed(a) - flushed(b));
                    }
                }),
                new FaultyArithmetic("flushes factors", Fault.SUBNORMALS, new Arithmetic() {
                    @Override
                    public float multiply(float a, float b) {
                        return flushed(flushed(a) * flushed(b));
                    }
                }),
                new FaultyArithmetic("flushes in fma", Fault.SUBNORMALS, new Arithmetic() {
                    @Override
                    public float fma(float a, float b, float c) {
                        return flushed(Math.fma(a, b, c));
                    }
                }),
                new FaultyArithmetic("flushes the term of fma", Fault.SUBNORMALS, new Arithmetic() {
                    @Override
                    public float fma(float a, float b, float c) {
                        return Math.fma(a, b, flushed(c));
                    }
                }),
                new FaultyArithmetic("flushes what it compares", Fault.SUBNORMALS, new Arithmetic() {
                    @Override
                    public int compare(float a, float b, int unordered) {
                        return Arithmetic.super.compare(flushed(a), flushed(b), unordered);
                    }
                }),
                new FaultyArithmetic("rounds towards zero", Fault.ROUNDING, new Rounding(Direction.ZERO)),
                new FaultyArithmetic("rounds up", Fault.ROUNDING, new Rounding(Direction.UP)),
                new FaultyArithmetic("rounds down", Fault.ROUNDING, new Rounding(Direction.DOWN)),
                new FaultyArithmetic("rounds ties away", Fault.ROUNDING, new Rounding(Direction.TIES_AWAY)),
                new FaultyArithmetic("rounds products towards zero", Fault.ROUNDING, new Arithmetic() {
                    @Override
                    public float multiply(float a, float b) {
                        return new Rounding(Direction.ZERO).multiply(a, b);
                    }
                }),
                new FaultyArithmetic("drops a zero term", Fault.SIGN_OF_ZERO, new Arithmetic() {
                    @Override
                    public float fma(float a, float b, float c) {
                        return c == 0f ? a * b : Math.fma(a, b, c);
                    }
                }),
                new FaultyArithmetic("has one zero", Fault.SIGN_OF_ZERO, new Arithmetic() {
                    @Override
                    public float negate(float a) {
                        return 0f - a;
                    }
                }),
                new FaultyArithmetic("compares nan", Fault.NON_FINITE, new Arithmetic() {
                    @Override
                    public int compare(float a, float b, int unordered) {
                        return Float.compare(a, b);
                    }
                }),
                new FaultyArithmetic("takes infinity for the largest", Fault.NON_FINITE, new Arithmetic() {
                    @Override
                    public float add(float a, float b) {
                        float sum = a + b;
                        return Float.isInfinite(sum) ? Math.copySign(Float.MAX_VALUE, sum) : sum;
                    }
                }),
                new FaultyArithmetic("rounds products", Fault.NOT_FUSED, new Arithmetic() {
                    @Override
                    public float fma(float a, float b, float c) {
                        return a * b + c;
                    }
                }),
                new FaultyArithmetic("fuses in double", Fault.ROUNDED_TWICE, new Arithmetic() {
                    @Override
                    public float fma(float a, float b, float c) {
                        return (float) ((double) a * b + c);
                    }
                }),
                new FaultyArithmetic("divides to 2 bits", Fault.QUOTIENT, new Arithmetic() {
                    @Override
                    public float divide(float a, float b) {
                        return a / b * 1.25f;
                    }
                }),
                new FaultyArithmetic("takes roots to 1 bit", Fault.INVERSE_ROOT, new Arithmetic() {
                    @Override
                    public float root(float a) {
                        return (float) Math.sqrt(a) * 1.5f;
                    }
                }),
                new FaultyArithmetic("converts to unsigned", Fault.CONVERSION, new Arithmetic() {
                    @Override
                    public int toInt(float a) {
                        return Math.max(0, (int) a);
                    }
                }),
                new FaultyArithmetic("converts few bits", Fault.CONVERSION, new Arithmetic() {
                    @Override
                    public float fromInt(int a) {
                        return a & ~0xF;
                    }
                }),
                new FaultyArithmetic("divides ints in float", Fault.INTEGERS, new Arithmetic() {
                    @Override
                    public int divide(int a, int b) {
                        return (int) ((float) a / b);
                    }
                }),
                new FaultyArithmetic("has unsigned bytes", Fault.INT8, new Arithmetic() {
                    @Override
                    public float fromInt(int a) {
                        return a < 0 ? a + 256 : a;
                    }
                }));
    }

    @Override
    public String toString() {
        return name;
    }

    private static float flushed(float a) {
        return Math.abs(a) < Float.MIN_NORMAL ? Math.copySign(0f, a) : a;
    }

    /** Subnormals are 0. */
    private record Flushing(boolean reads, boolean writes) implements Arithmetic {
        private float in(float a) {
            return reads ? flushed(a) : a;
        }

        private float out(float a) {
            return writes ? flushed(a) : a;
        }

        @Override
        public float add(float a, float b) {
            return out(in(a) + in(b));
        }

        @Override
        public float subtract(float a, float b) {
            return out(in(a) - in(b));
        }

        @Override
        public float multiply(float a, float b) {
            return out(in(a) * in(b));
        }

        @Override
        public float divide(float a, float b) {
            return out(in(a) / in(b));
        }

        @Override
        public float fma(float a, float b, float c) {
            return out(Math.fma(in(a), in(b), in(c)));
        }

        @Override
        public float root(float a) {
            return out((float) Math.sqrt(in(a)));
        }

        @Override
        public int compare(float a, float b, int unordered) {
            return Arithmetic.super.compare(in(a), in(b), unordered);
        }
    }

    /** Where a result goes that lies between two numbers. */
    private enum Direction {
        ZERO,
        UP,
        DOWN,
        TIES_AWAY;

        float round(BigDecimal exact, float nearest) {
            if (!Float.isFinite(nearest)) {
                return nearest;
            }
            int above = new BigDecimal(nearest).compareTo(exact);
            float lower = above > 0 ? Math.nextDown(nearest) : nearest;
            float upper = above < 0 ? Math.nextUp(nearest) : nearest;
            return switch (this) {
                case ZERO -> exact.signum() > 0 ? lower : upper;
                case UP -> upper;
                case DOWN -> lower;
                case TIES_AWAY -> {
                    BigDecimal middle = new BigDecimal(lower).add(new BigDecimal(upper));
                    boolean isTie = above != 0 && middle.compareTo(exact.add(exact)) == 0;
                    yield isTie ? exact.signum() > 0 ? upper : lower : nearest;
                }
            };
        }
    }

    /** Every sum and product of finite numbers in a direction. */
    private record Rounding(Direction direction) implements Arithmetic {
        @Override
        public float add(float a, float b) {
            return Float.isFinite(a + b) ? direction.round(new BigDecimal(a).add(new BigDecimal(b)), a + b) : a + b;
        }

        @Override
        public float subtract(float a, float b) {
            return add(a, -b);
        }

        @Override
        public float multiply(float a, float b) {
            return Float.isFinite(a * b)
                    ? direction.round(new BigDecimal(a).multiply(new BigDecimal(b)), a * b)
                    : a * b;
        }

        @Override
        public float fma(float a, float b, float c) {
            float nearest = Math.fma(a, b, c);
            return Float.isFinite(nearest)
                    ? direction.round(
                            new BigDecimal(a).multiply(new BigDecimal(b)).add(new BigDecimal(c)), nearest)
                    : nearest;
        }
    }
}
