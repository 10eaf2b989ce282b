package io.github.tornadotransformers.taskgraphs.devices;

import java.util.Locale;

/** A way TornadoVM compiles kernels. */
public enum Backend {
    OPENCL,
    PTX,
    SPIRV,
    CUDA,
    METAL,

    /** No backend of a device: the emulator, which only tests see. */
    VIRTUAL;

    /** As users name it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
