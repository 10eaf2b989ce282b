package io.github.tornadotransformers.runner.engines;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TornadoDeviceTest {
    /** Two drivers, with the colours that the SDK's launcher prints. */
    private static final String LISTING = """

            Number of Tornado drivers: 2
            Driver: \u001B[36mPTX\u001B[0m
              Total number of PTX devices  : 1
              Tornado device=0:0  (DEFAULT)
            \t\u001B[36mPTX\u001B[0m -- PTX -- NVIDIA RTX
            \t\tGlobal Memory Size: 23.5 GB
            Driver: \u001B[36mOpenCL\u001B[0m
              Total number of OpenCL devices  : 2
              Tornado device=1:0
            \t\u001B[36mOPENCL\u001B[0m --  [NVIDIA CUDA] -- NVIDIA RTX [Laptop]
            \t\tGlobal Memory Size: 23.5 GB
            \t\tLocal Memory Size: 48.0 KB
            \t\tWorkgroup Dimensions: 3

              Tornado device=1:1
            \t\u001B[36mOPENCL\u001B[0m --  [Portable Computing Language] -- pthread-cpu
            \t\tGlobal Memory Size: 4.3 GB
            \t\tLocal Memory Size: 1.0 MB

            """;

    @Test
    void readsEveryDevice() {
        assertThat(TornadoDevice.parse(LISTING))
                .containsExactly(
                        new TornadoDevice("0:0", "PTX", "PTX", "NVIDIA RTX", "23.5 GB", "unknown", true),
                        new TornadoDevice(
                                "1:0", "OPENCL", "NVIDIA CUDA", "NVIDIA RTX [Laptop]", "23.5 GB", "48.0 KB", false),
                        new TornadoDevice(
                                "1:1",
                                "OPENCL",
                                "Portable Computing Language",
                                "pthread-cpu",
                                "4.3 GB",
                                "1.0 MB",
                                false));
    }

    @Test
    void findsNoneInAnythingElse() {
        assertThat(TornadoDevice.parse("Error: no such file\n")).isEmpty();
    }
}
