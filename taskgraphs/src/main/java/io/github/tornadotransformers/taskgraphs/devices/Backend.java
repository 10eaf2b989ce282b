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

    /** Whether a driver can note what a graph asks of the device, and do it again when it is told once. The emulator does so each time. */
    public boolean replaysGraphs() {
        return this == PTX || this == CUDA || this == VIRTUAL;
    }

    /** As users name it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
