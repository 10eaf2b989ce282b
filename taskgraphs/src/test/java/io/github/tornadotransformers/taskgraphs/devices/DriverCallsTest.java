package io.github.tornadotransformers.taskgraphs.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call of the driver that failed is an error, although TornadoVM only prints it. */
class DriverCallsTest {
    private static final String CUDA_COPY =
            "[TornadoVM-CUDA-JNI] ERROR : cuMemcpyHtoDAsync -> Returned: 1 (CUDA_ERROR_INVALID_VALUE)\n";
    static final DeviceInfo DEVICE = new DeviceInfo(
            new DeviceId(0, 0),
            Backend.CUDA,
            DeviceInfo.Kind.GPU,
            "some GPU",
            "CUDA",
            1 << 30,
            1 << 30,
            256,
            true,
            true);

    private Descriptors descriptors;
    private int output;
    private HeldOutput held;

    @BeforeEach
    void open() throws IOException {
        assumeTrue(Descriptors.areAvailable(), "descriptors are replaced on Linux alone");
        descriptors = new Descriptors();
        output = descriptors.createInMemory();
        held = new HeldOutput(output, DriverCalls::withoutReports);
    }

    @AfterEach
    void close() throws IOException {
        if (descriptors != null) {
            descriptors.close(output);
        }
    }

    private void print(String text) throws IOException {
        descriptors.write(output, text.getBytes(StandardCharsets.UTF_8));
    }

    private String cameOut() throws IOException {
        return new String(descriptors.read(output, 0, descriptors.size(output)), StandardCharsets.UTF_8);
    }

    private static String errorsOf(Callable<?> action) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        try {
            action.call();
        } finally {
            System.setErr(before);
        }
        return errors.toString(StandardCharsets.UTF_8);
    }

    private void requireSuccessAfter(String printed) throws IOException {
        try (DriverCalls calls = DriverCalls.of(DEVICE, held)) {
            print(printed);
            calls.requireSuccess("block");
        }
    }

    @Test
    void aCopyThatFailedIsAnErrorAndNoPrint() throws Exception {
        String errors = errorsOf(() -> {
            assertThatThrownBy(() -> requireSuccessAfter("a token" + CUDA_COPY + CUDA_COPY))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageStartingWith("graph block failed on some GPU (cuda 0:0): cuMemcpyHtoDAsync returned 1"
                            + " (CUDA_ERROR_INVALID_VALUE); its results cannot be trusted, try ");
            return null;
        });
        assertThat(errors).isEmpty();
        assertThat(cameOut()).isEqualTo("a token");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\t[TornadoVM-PTX-JNI] ERROR : cuMemcpyHtoDAsyncMemSeg -> Returned: 700\n",
                "\t[TornadoVM-PTX-JNI] ERROR : cuStreamSynchronize (stage guard) -> Returned: 700\n",
                "[TornadoVM-CUDA-JNI] ERROR : cuLaunchKernel -> Returned: 719 (CUDA_ERROR_LAUNCH_FAILED)\n",
                "[TornadoVM-OCL-JNI] ERROR : clEnqueueWriteBuffer -> Returned: -5\n"
            })
    void everyBackendsReportsAreRead(String report) throws IOException {
        assertThatThrownBy(() -> requireSuccessAfter(report)).isInstanceOf(DeviceException.class);
        assertThat(cameOut()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[TornadoVM-CUDA-JNI] ERROR : cuMemHostRegister -> Returned: 712 (CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)\n",
                "[TornadoVM-PTX-NVML-JNI] ERROR : nvmlDeviceGetPowerUsage -> Returned: 3\n",
                "[TornadoVM-OCL-JNI] ERROR : clGetEventProfilingInfo -> Returned: -7\n"
            })
    void whatNoResultDependsOnGoesToTheOtherOutput(String report) throws Exception {
        String errors = errorsOf(() -> {
            assertThatCode(() -> requireSuccessAfter(report)).doesNotThrowAnyException();
            return null;
        });
        assertThat(errors).isEqualTo(report);
        assertThat(cameOut()).isEmpty();
    }

    @Test
    void aCompilersLogIsNoResult() throws IOException {
        requireSuccessAfter("a token[TornadoVM-CUDA-JNI] NVRTC compilation failed:\n"
                + "kernel.cu(1): error: expected a \";\"\n1 error\n\0\nand another");
        assertThat(cameOut()).isEqualTo("a tokenand another");
    }

    @Test
    void nobodyReadsOfWhatIsForgiven() throws Exception {
        String errors = errorsOf(() -> {
            try (DriverCalls calls = DriverCalls.of(DEVICE, held)) {
                print("a token[TornadoVM-CUDA-JNI] ERROR : cuStreamBeginCapture -> Returned: 801 (CUDA_ERROR_801)\n");
                calls.forgive();
            }
            return null;
        });
        assertThat(errors).isEmpty();
        assertThat(cameOut()).isEqualTo("a token");
    }

    @Test
    void callsOfBeforeAreOthers() throws Exception {
        String errors = errorsOf(() -> {
            try (DriverCalls _ = DriverCalls.of(DEVICE, held)) {
                print(CUDA_COPY);
            }
            requireSuccessAfter("fine\n");
            return null;
        });
        assertThat(errors).isEqualTo(CUDA_COPY);
        assertThat(cameOut()).isEqualTo("fine\n");
    }

    @Test
    void aProcessThatEndsMeanwhileHasPrintedWhatItPrinted() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OutputOfAnEndingProcess.class.getName())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        assertThat(printed.lines()).containsExactlyInAnyOrder("another thread's", "a hook's");
    }
}
