package io.github.tornadotransformers.engine;

import java.util.Locale;

/** What runs a program, by the name that its users give it. */
public enum EngineKind {
    HOST(false),
    SCALAR(false),
    TORNADO(true),
    OPENCL(true),
    PTX(true),
    SPIRV(true),
    CUDA(true),
    METAL(true);

    private final boolean onDevice;

    EngineKind(boolean onDevice) {
        this.onDevice = onDevice;
    }

    /** Whether it runs through TornadoVM. */
    public boolean onDevice() {
        return onDevice;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
