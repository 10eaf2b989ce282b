package io.github.tornadotransformers.benchmarks.jmh;

/** {@link JmhRun} in a process of its own. */
final class JmhProgram {
    private JmhProgram() {}

    public static void main(String[] arguments) {
        new JmhRun(System.out::print, System.err, true).run(arguments);
    }
}
