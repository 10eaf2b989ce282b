package io.github.tornadotransformers.taskgraphs.training;

import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * <a href="https://github.com/jrprice/Oclgrind">Oclgrind</a>, an OpenCL device that interprets kernels and reports races and accesses out of
 * bounds. It calls itself all types of device at once, of which TornadoVM makes none: a library that is loaded before OpenCL's says
 * that it is a GPU, so that kernels are those for GPUs.
 *
 * @param log what it reports
 * @param vendors the folder that OpenCL's loader reads
 * @param preloaded the library
 */
record Oclgrind(Path log, Path vendors, Path preloaded) {
    private static final String DRIVER = "liboclgrind-rt-icd.so";

    /** CL_DEVICE_TYPE and CL_DEVICE_TYPE_GPU of the OpenCL specification. */
    private static final String AS_GPU = """
            #include <dlfcn.h>
            #include <stddef.h>

            int clGetDeviceInfo(void *device, unsigned what, size_t size, void *value, size_t *needed) {
              static int (*next)(void *, unsigned, size_t, void *, size_t *);
              if (!next) {
                next = dlsym(dlopen("libOpenCL.so.1", RTLD_LAZY), "clGetDeviceInfo");
              }
              int error = next(device, what, size, value, needed);
              if (!error && what == 0x1000 && value) {
                *(unsigned long long *) value = 4;
              }
              return error;
            }
            """;

    /** Skips the calling test, with the reason, where it is not here. */
    static Oclgrind assumed(Path folder) throws IOException, InterruptedException {
        Optional<Path> driver = installed();
        Assumptions.assumeTrue(
                driver.isPresent(),
                () -> "no " + DRIVER + " below /usr/lib; on Debian, the package oclgrind brings it");
        Optional<Path> compiler = compiler();
        Assumptions.assumeTrue(compiler.isPresent(), () -> "no C compiler cc on PATH, to show Oclgrind as a GPU");
        Path source = Files.writeString(folder.resolve("asgpu.c"), AS_GPU);
        Path library = folder.resolve("asgpu.so");
        String output = TornadoSdk.output(new ProcessBuilder(
                compiler.orElseThrow().toString(),
                "-shared",
                "-fPIC",
                "-o",
                library.toString(),
                source.toString(),
                "-ldl"));
        Assumptions.assumeTrue(Files.exists(library), () -> "the C compiler makes no library: " + output.strip());
        Path vendors = Files.createDirectories(folder.resolve("vendors"));
        Files.writeString(vendors.resolve("oclgrind.icd"), driver.orElseThrow() + "\n");
        return new Oclgrind(folder.resolve("oclgrind.log"), vendors, library);
    }

    private static Optional<Path> installed() {
        Path root = Path.of("/usr/lib");
        if (!Files.isDirectory(root)) {
            return Optional.empty();
        }
        try (Stream<Path> folders = Files.list(root)) {
            return Stream.concat(
                            Stream.of(root.resolve("oclgrind")),
                            folders.filter(Files::isDirectory)
                                    .flatMap(each -> Stream.of(each, each.resolve("oclgrind"))))
                    .map(folder -> folder.resolve(DRIVER))
                    .filter(Files::isRegularFile)
                    .findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<Path> compiler() {
        return Stream.of(System.getenv("PATH").split(System.getProperty("path.separator")))
                .map(folder -> Path.of(folder, "cc"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Has a process see this device alone. */
    ProcessBuilder showTo(ProcessBuilder process) {
        process.environment()
                .putAll(Map.of(
                        "OCL_ICD_VENDORS",
                        vendors.toString(),
                        "LD_PRELOAD",
                        preloaded.toString(),
                        "OCLGRIND_DATA_RACES",
                        "1",
                        "OCLGRIND_CHECK_API",
                        "1",
                        "OCLGRIND_LOG",
                        log.toString()));
        return process;
    }

    /** What it reported; nothing where all was well. */
    List<String> report() throws IOException {
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }
}
