package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.kernels.KernelMath;

/** What arithmetic a device may do. */
public enum MathMode {
    /** The contract: the host's bits. */
    STRICT(KernelMath.STRICT),

    /** The device approximates as it likes; measured by tolerance. */
    FAST(KernelMath.FAST);

    private final int scalar;

    MathMode(int scalar) {
        this.scalar = scalar;
    }

    /** What kernels take. */
    public int scalar() {
        return scalar;
    }
}
