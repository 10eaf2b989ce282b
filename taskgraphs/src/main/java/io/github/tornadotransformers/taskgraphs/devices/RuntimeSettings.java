package io.github.tornadotransformers.taskgraphs.devices;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * How TornadoVM is set up. It reads system properties once, when it is first used, so that they are set here, in the process,
 * before that; whoever starts a JVM may pass them as {@link #jvmArguments} as well.
 */
public final class RuntimeSettings {
    private static final String TRUE = "True";
    private static final String FALSE = "False";
    private static final String FAST_MATH = "tornado.enable.fastMathOptimizations";

    /** Where TornadoVM has this module, it compiles for PTX. */
    private static final String PTX = "tornado.drivers.ptx";

    /** TornadoVM's own flags, without those that approximate. Kernels correct what a device divides and roots. */
    private static final String OPENCL_FLAGS = "-w";

    private RuntimeSettings() {}

    /**
     * What the bits depend on, such as that TornadoVM makes an fma of an addition of a product; that a kernel which cannot
     * compile is an error; that functions are inlined whatever their size; and that CUDA and PTX do not pin what kernels only
     * read, as weights are freed when the device has them. A run with other values is refused.
     */
    private static Map<String, String> required(MathMode math) {
        Map<String, String> required = new LinkedHashMap<>();
        required.put("tornado.recover.bailout", FALSE);
        required.put("tornado.compiler.fullInlining", TRUE);
        required.put("tornado.staged.transfers", TRUE);
        required.put("tornado.staged.min.size", "1");
        required.put("tornado.enable.fma", TRUE);
        required.put(FAST_MATH, wantsFastMath(math) ? TRUE : FALSE);
        if (math == MathMode.STRICT) {
            required.put("tornado.enable.nativeFunctions", FALSE);
            required.put("tornado.enable.mathOptimizations", FALSE);
            required.put("tornado.opencl.compiler.flags", OPENCL_FLAGS);
            required.put("tornado.metal.fastmath", FALSE);
        }
        return required;
    }

    /**
     * For PTX the name misleads: without it a sum that a product of ints joins becomes {@code fma.s32}, which no driver takes; with it
     * {@code mad.lo.s32}. One of floats is {@code fma.rn} or {@code mad.rn}, rounded once both. SPIR-V's would round twice, as the
     * probe of a device finds.
     */
    private static boolean wantsFastMath(MathMode math) {
        return math == MathMode.FAST || ModuleLayer.boot().findModule(PTX).isPresent();
    }

    /**
     * Limits and habits of TornadoVM that are too small or too slow for us; a user may have reasons for others.
     *
     * <ul>
     *   <li>Byte code of a graph: 4096 by default, which 60 tasks overflow.
     *   <li>Events a task can wait for: 32768 by default, cleared for every task at every execution, though nothing waits here.
     *   <li>Device memory: 4 GB by default; memory plans know the device's own.
     *   <li>Looking for reductions, and checking parameters at every execution: there are none, and the first would do.
     * </ul>
     */
    private static Map<String, String> preferred() {
        Map<String, String> preferred = new LinkedHashMap<>();
        preferred.put("tornado.tvm.maxbytecodesize", "262144");
        preferred.put("tornado.max.events", "16");
        preferred.put("tornado.device.memory", "1024GB");
        preferred.put("tornado.experimental.reduce", FALSE);
        preferred.put("tornado.check.parameters", FALSE);
        return preferred;
    }

    /**
     * Has the source of every kernel that is compiled from now on appended to a file: for a report to a driver's author. Comes
     * before the first use of TornadoVM.
     */
    public static void keepKernelSources(Path file) {
        System.setProperty("tornado.printKernel", TRUE);
        System.setProperty("tornado.print.kernel.dir", file.toAbsolutePath().toString());
    }

    /** The settings as arguments of a JVM. */
    public static List<String> jvmArguments(MathMode math) {
        Map<String, String> all = required(math);
        all.putAll(preferred());
        return all.entrySet().stream()
                .map(setting -> "-D" + setting.getKey() + "=" + setting.getValue())
                .toList();
    }

    /**
     * Sets what is not set yet, and checks the rest.
     *
     * @throws DeviceException if the process runs with a setting that this mode rules out
     */
    public static void install(MathMode math) {
        required(math).forEach((key, wanted) -> {
            String found = Objects.requireNonNullElse(System.getProperty(key), wanted);
            if (!found.equalsIgnoreCase(wanted)) {
                throw new DeviceException(Wording.of(
                        "-D%s=%s rules out %s %s, which needs %s: drop it, or choose the other %s in a process of its own",
                        key, found, Term.MATH, name(math), wanted, Term.MATH));
            }
            System.setProperty(key, wanted);
        });
        preferred().forEach((key, value) -> System.setProperty(key, System.getProperty(key, value)));
    }

    /**
     * Checks that TornadoVM, which is loaded by now, has read the settings, and was not in use before.
     *
     * @throws DeviceException if it runs with others
     */
    public static void requireInEffect(MathMode math) {
        try {
            Class<?> options = Class.forName("uk.ac.manchester.tornado.runtime.common.TornadoOptions");
            boolean fuses = options.getField("ENABLE_FMA").getBoolean(null);
            boolean fallsBack = options.getField("RECOVER_BAILOUT").getBoolean(null);
            boolean pins = !options.getField("ENABLE_STAGED_TRANSFERS").getBoolean(null);
            boolean approximates = options.getField("FAST_MATH_OPTIMIZATIONS").getBoolean(null);
            if (fallsBack || pins || !fuses || approximates != wantsFastMath(math)) {
                throw new DeviceException(Wording.of(
                        "TornadoVM was in use before this process was set up for %s %s: start it anew",
                        Term.MATH, name(math)));
            }
        } catch (ClassNotFoundException _) {
            // The emulator, which computes as Java does.
        } catch (ReflectiveOperationException e) {
            throw new DeviceException(
                    "TornadoVM's settings cannot be read (" + e.getMessage()
                            + "): this program is built for another version of it",
                    e);
        }
    }

    private static String name(MathMode math) {
        return math.name().toLowerCase(Locale.ROOT);
    }
}
