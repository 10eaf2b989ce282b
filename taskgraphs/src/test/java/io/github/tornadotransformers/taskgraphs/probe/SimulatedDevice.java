package io.github.tornadotransformers.taskgraphs.probe;

import io.github.tornadotransformers.kernels.ProbeKernels;
import io.github.tornadotransformers.kernels.WeightFormat;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.stream.Stream;
import uk.ac.manchester.tornado.api.math.TornadoMath;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** Runs the probe's kernel, and what it calls, with each of its instructions computed by an {@link Arithmetic}. */
public final class SimulatedDevice extends ClassLoader {
    private static final ScopedValue<Arithmetic> ARITHMETIC = ScopedValue.newInstance();
    private static final ClassDesc HERE =
            SimulatedDevice.class.describeConstable().orElseThrow();
    private static final ClassDesc FLOAT = ConstantDescs.CD_float;
    private static final ClassDesc INT = ConstantDescs.CD_int;
    private static final String KERNELS = ProbeKernels.class.getPackageName() + ".";

    private SimulatedDevice() {
        super(SimulatedDevice.class.getClassLoader());
    }

    /** Results of the probe. */
    record Results(float[] floats, int[] wholes) {
        /** The faults that they show, the first first. */
        List<Fault> faults(ProbeTable table) {
            return DeviceProbe.judge(table.cases(), floats, wholes).stream()
                    .map(Finding::fault)
                    .toList();
        }
    }

    static Results run(ProbeTable table, Arithmetic arithmetic) {
        FloatArray floats = new FloatArray(ProbeTable.SIZE);
        IntArray wholes = new IntArray(ProbeTable.SIZE);
        Object[] arguments = {
            FloatArray.fromSegment(table.x()),
            FloatArray.fromSegment(table.y()),
            FloatArray.fromSegment(table.z()),
            IntArray.fromSegment(table.ints()),
            IntArray.fromSegment(table.words()),
            ShortArray.fromSegment(table.patterns()),
            WeightFormat.powers(WeightFormat.BF16),
            WeightFormat.powers(WeightFormat.F16),
            FloatArray.fromSegment(table.terms()),
            floats,
            wholes
        };
        ScopedValue.where(ARITHMETIC, arithmetic).run(() -> new SimulatedDevice().invoke(arguments));
        return new Results(floats.toHeapArray(), wholes.toHeapArray());
    }

    private void invoke(Object... arguments) {
        try {
            Class<?>[] types = Stream.of(arguments).map(Object::getClass).toArray(Class<?>[]::new);
            loadClass(ProbeKernels.class.getName())
                    .getMethod("arithmetic", types)
                    .invoke(null, arguments);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        Class<?> loaded = findLoadedClass(name);
        if (loaded == null) {
            loaded = name.startsWith(KERNELS) ? rewritten(name) : getParent().loadClass(name);
        }
        return loaded;
    }

    private Class<?> rewritten(String name) throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            ClassFile classFile = ClassFile.of();
            ClassTransform transform = ClassTransform.transformingMethodBodies(SimulatedDevice::rewrite);
            byte[] bytes = classFile.transformClass(classFile.parse(file.readAllBytes()), transform);
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void rewrite(CodeBuilder code, CodeElement element) {
        switch (element) {
            case OperatorInstruction operator -> operator(code, operator);
            case ConvertInstruction convert when convert.opcode() == Opcode.F2I -> call(code, "toInt", INT, FLOAT);
            case ConvertInstruction convert when convert.opcode() == Opcode.I2F -> call(code, "fromInt", FLOAT, INT);
            case InvokeInstruction call
            when call.name().equalsString("fma") && isOf(call, Math.class) ->
                call(code, "fma", FLOAT, FLOAT, FLOAT, FLOAT);
            case InvokeInstruction call
            when call.name().equalsString("sqrt") && isOf(call, TornadoMath.class) -> call(code, "root", FLOAT, FLOAT);
            case InvokeInstruction call
            when call.name().equalsString("get") && isOf(call, ShortArray.class) ->
                call(code, "get", ConstantDescs.CD_short, call.owner().asSymbol(), INT);
            default -> code.with(element);
        }
    }

    private static boolean isOf(InvokeInstruction call, Class<?> owner) {
        return call.owner().asSymbol().equals(owner.describeConstable().orElseThrow());
    }

    private static void operator(CodeBuilder code, OperatorInstruction operator) {
        switch (operator.opcode()) {
            case FADD -> call(code, "add", FLOAT, FLOAT, FLOAT);
            case FSUB -> call(code, "subtract", FLOAT, FLOAT, FLOAT);
            case FMUL -> call(code, "multiply", FLOAT, FLOAT, FLOAT);
            case FDIV -> call(code, "divide", FLOAT, FLOAT, FLOAT);
            case FNEG -> call(code, "negate", FLOAT, FLOAT);
            case FCMPL -> call(code.iconst_m1(), "compare", INT, FLOAT, FLOAT, INT);
            case FCMPG -> call(code.iconst_1(), "compare", INT, FLOAT, FLOAT, INT);
            case IDIV -> call(code, "divide", INT, INT, INT);
            case IREM -> call(code, "remainder", INT, INT, INT);
            default -> code.with(operator);
        }
    }

    private static void call(CodeBuilder code, String name, ClassDesc result, ClassDesc... operands) {
        code.invokestatic(HERE, name, MethodTypeDesc.of(result, operands));
    }

    public static float add(float a, float b) {
        return ARITHMETIC.get().add(a, b);
    }

    public static float subtract(float a, float b) {
        return ARITHMETIC.get().subtract(a, b);
    }

    public static float multiply(float a, float b) {
        return ARITHMETIC.get().multiply(a, b);
    }

    public static float divide(float a, float b) {
        return ARITHMETIC.get().divide(a, b);
    }

    public static float negate(float a) {
        return ARITHMETIC.get().negate(a);
    }

    public static float fma(float a, float b, float c) {
        return ARITHMETIC.get().fma(a, b, c);
    }

    public static float root(float a) {
        return ARITHMETIC.get().root(a);
    }

    public static int compare(float a, float b, int unordered) {
        return ARITHMETIC.get().compare(a, b, unordered);
    }

    public static int toInt(float a) {
        return ARITHMETIC.get().toInt(a);
    }

    public static float fromInt(int a) {
        return ARITHMETIC.get().fromInt(a);
    }

    public static int divide(int a, int b) {
        return ARITHMETIC.get().divide(a, b);
    }

    public static int remainder(int a, int b) {
        return ARITHMETIC.get().remainder(a, b);
    }

    public static short get(ShortArray array, int index) {
        return ARITHMETIC.get().get(array, index);
    }
}
