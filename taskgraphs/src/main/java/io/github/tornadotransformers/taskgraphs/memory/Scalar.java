package io.github.tornadotransformers.taskgraphs.memory;

/** An argument that is frozen into a kernel when it is compiled. */
public record Scalar<T extends Number>(T value) implements Argument<T> {
    public static Scalar<Integer> value(int value) {
        return new Scalar<>(value);
    }

    public static Scalar<Float> value(float value) {
        return new Scalar<>(value);
    }

    /** 1 for yes. */
    public static Scalar<Integer> flag(boolean value) {
        return value(value ? 1 : 0);
    }

    @Override
    public T in(DeviceArrays arrays) {
        return value;
    }
}
