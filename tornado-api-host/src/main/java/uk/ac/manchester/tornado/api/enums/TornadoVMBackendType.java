package uk.ac.manchester.tornado.api.enums;

/** What TornadoVM compiles kernels to. */
public enum TornadoVMBackendType {
    OPENCL,
    METAL,
    PTX,
    CUDA,
    SPIRV,
    JAVA,
    VIRTUAL
}
