package io.github.tornadotransformers.taskgraphs.devices;

/** A program that ends while it watches a device's calls, as Ctrl-C ends one: another thread prints, then a shutdown hook does. */
final class OutputOfAnEndingProcess {
    private OutputOfAnEndingProcess() {}

    static void main() throws InterruptedException {
        DriverCalls.of(DriverCallsTest.DEVICE);
        Thread other = new Thread(() -> System.out.println("another thread's"));
        other.start();
        other.join();
        System.out.println(
                "[TornadoVM-CUDA-JNI] ERROR : cuMemcpyDtoHAsync -> Returned: 700 (CUDA_ERROR_ILLEGAL_ADDRESS)");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("a hook's")));
        System.exit(0);
    }
}
