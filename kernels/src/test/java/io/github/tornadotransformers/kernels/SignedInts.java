package io.github.tornadotransformers.kernels;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.Interpreter;
import org.objectweb.asm.tree.analysis.Value;

/**
 * Finds where a kernel, or a helper that it calls, shifts, divides or tests the sign of an int that can be negative. TornadoVM's
 * backends disagree there: PTX shifts signed ints as unsigned, OpenCL, CUDA and Metal the other way round; and quotients and
 * sign tests become shifts when it compiles.
 *
 * <p>Ints that a kernel takes, and the elements of an {@code IntArray}, count as not negative. A difference counts as negative
 * unless a constant is taken from something larger; so do a conversion and the element of a {@code ShortArray} or {@code
 * ByteArray}, until a mask. A shift to the right is right where nothing is left of what came in from the left: where a mask of 8 or 16
 * bits, or a conversion to a short, follows.
 */
final class SignedInts {
    private static final int HALF = 0xFFFF;

    /** Methods of the kernels' classes, by {@link Place#key}. */
    private final Map<String, Place> places;

    private final Set<String> found = new TreeSet<>();

    SignedInts(Map<String, Place> places) {
        this.places = places;
    }

    /** A static method. */
    record Place(String owner, MethodNode method) {
        String key() {
            return key(owner, method.name, method.desc);
        }

        static String key(String owner, String name, String descriptor) {
            return owner + "." + name + descriptor;
        }

        /** Such as {@code WeightFormat.widen, line 77}. */
        String at(AbstractInsnNode instruction) {
            AbstractInsnNode line = instruction;
            while (line != null && !(line instanceof LineNumberNode)) {
                line = line.getPrevious();
            }
            return "%s.%s, line %s"
                    .formatted(
                            owner.substring(owner.lastIndexOf('/') + 1),
                            method.name,
                            line instanceof LineNumberNode number ? number.line : "unknown");
        }
    }

    /**
     * What is known of a value.
     *
     * @param words it takes, 1 or 2
     * @param least of an int that it can be, or {@link #NEGATIVE}
     */
    record Known(int words, int least) implements Value {
        private static final int NEGATIVE = -1;

        static final Known CAN_BE_NEGATIVE = new Known(1, NEGATIVE);
        static final Known NOT_NEGATIVE = new Known(1, 0);

        /** No int, or the outcome of comparing floats, whose sign is only ever branched on. */
        static final Known OTHER = new Known(1, 0);

        static final Known WIDE = new Known(2, 0);

        static Known atLeast(long least) {
            return new Known(1, Math.clamp(least, NEGATIVE, Integer.MAX_VALUE));
        }

        static Known of(Type type) {
            return switch (type.getSort()) {
                case Type.SHORT, Type.BYTE -> CAN_BE_NEGATIVE;
                case Type.LONG, Type.DOUBLE -> WIDE;
                default -> NOT_NEGATIVE;
            };
        }

        boolean canBeNegative() {
            return least < 0;
        }

        /** The sum, where neither can be negative. */
        Known plus(Known other) {
            return canBeNegative() || other.canBeNegative() ? CAN_BE_NEGATIVE : atLeast((long) least + other.least);
        }

        /** What is made of both, where neither can be negative. */
        Known with(Known other) {
            return canBeNegative() || other.canBeNegative() ? CAN_BE_NEGATIVE : NOT_NEGATIVE;
        }

        @Override
        public int getSize() {
            return words;
        }
    }

    /** Such as {@code WeightFormat.widen, line 77: the sign of an int that can be negative}. */
    Set<String> foundFrom(Place kernel) {
        Type[] types = Type.getArgumentTypes(kernel.method().desc);
        List<Known> arguments = new ArrayList<>();
        for (Type type : types) {
            arguments.add(Known.of(type));
        }
        new Run(kernel, arguments).result();
        return found;
    }

    /** One method with what is known of its arguments. */
    private final class Run extends Interpreter<Known> {
        private final Place place;
        private final List<Known> locals = new ArrayList<>();
        private Known result = Known.NOT_NEGATIVE;

        Run(Place place, List<? extends Known> arguments) {
            super(Opcodes.ASM9);
            this.place = place;
            for (Known argument : arguments) {
                for (int word = 0; word < argument.words(); word++) {
                    locals.add(argument);
                }
            }
        }

        Known result() {
            try {
                new Analyzer<>(this).analyze(place.owner(), place.method());
            } catch (AnalyzerException e) {
                throw new IllegalStateException(place.at(e.node) + " cannot be analyzed", e);
            }
            Type type = Type.getReturnType(place.method().desc);
            return type.equals(Type.INT_TYPE) ? result : newValue(type);
        }

        private void require(Known value, AbstractInsnNode at, String what) {
            if (value.canBeNegative()) {
                found.add(place.at(at) + ": " + what + " of an int that can be negative");
            }
        }

        /** A kernel is plain: what is not listed here does not belong into one. */
        private UnsupportedOperationException unknown(AbstractInsnNode instruction) {
            return new UnsupportedOperationException("%s: no kernel has an instruction of opcode %d"
                    .formatted(place.at(instruction), instruction.getOpcode()));
        }

        @Override
        public Known newParameterValue(boolean isInstance, int local, Type type) {
            return locals.get(local);
        }

        @Override
        public Known newValue(Type type) {
            if (type == null) {
                return Known.OTHER;
            }
            return type.equals(Type.VOID_TYPE) ? null : Known.of(type);
        }

        @Override
        public Known newOperation(AbstractInsnNode instruction) {
            int opcode = instruction.getOpcode();
            return switch (opcode) {
                case Opcodes.ICONST_M1 -> Known.CAN_BE_NEGATIVE;
                case Opcodes.ICONST_0,
                        Opcodes.ICONST_1,
                        Opcodes.ICONST_2,
                        Opcodes.ICONST_3,
                        Opcodes.ICONST_4,
                        Opcodes.ICONST_5 -> Known.atLeast(opcode - Opcodes.ICONST_0);
                case Opcodes.BIPUSH, Opcodes.SIPUSH -> Known.atLeast(((IntInsnNode) instruction).operand);
                case Opcodes.LDC ->
                    switch (((LdcInsnNode) instruction).cst) {
                        case Integer number -> Known.atLeast(number);
                        case Long _, Double _ -> Known.WIDE;
                        default -> Known.OTHER;
                    };
                case Opcodes.GETSTATIC -> newValue(Type.getType(((FieldInsnNode) instruction).desc));
                case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> Known.WIDE;
                case Opcodes.FCONST_0, Opcodes.FCONST_1, Opcodes.FCONST_2 -> Known.OTHER;
                default -> throw unknown(instruction);
            };
        }

        @Override
        public Known copyOperation(AbstractInsnNode instruction, Known value) {
            return value;
        }

        @Override
        public Known unaryOperation(AbstractInsnNode instruction, Known value) {
            return switch (instruction.getOpcode()) {
                case Opcodes.IINC -> value.plus(Known.atLeast(((IincInsnNode) instruction).incr));
                case Opcodes.IFLT, Opcodes.IFGE, Opcodes.IFGT, Opcodes.IFLE -> {
                    require(value, instruction, "the sign");
                    yield null;
                }
                case Opcodes.IRETURN -> {
                    result = value.canBeNegative() ? value : result;
                    yield null;
                }
                case Opcodes.IFEQ, Opcodes.IFNE, Opcodes.FRETURN -> null;
                case Opcodes.INEG, Opcodes.F2I, Opcodes.D2I, Opcodes.L2I, Opcodes.I2B, Opcodes.I2S ->
                    Known.CAN_BE_NEGATIVE;
                case Opcodes.I2C -> Known.NOT_NEGATIVE;
                case Opcodes.I2D, Opcodes.F2D, Opcodes.DNEG -> Known.WIDE;
                case Opcodes.I2F, Opcodes.D2F, Opcodes.FNEG, Opcodes.NEWARRAY, Opcodes.GETFIELD -> Known.OTHER;
                default -> throw unknown(instruction);
            };
        }

        @Override
        public Known binaryOperation(AbstractInsnNode instruction, Known left, Known right) {
            return switch (instruction.getOpcode()) {
                case Opcodes.IADD -> left.plus(right);
                case Opcodes.IMUL, Opcodes.IOR, Opcodes.IXOR -> left.with(right);
                case Opcodes.ISUB -> difference(instruction, left);
                case Opcodes.IAND -> left.canBeNegative() && right.canBeNegative() ? left : Known.NOT_NEGATIVE;
                case Opcodes.IDIV, Opcodes.IREM -> {
                    require(left, instruction, "a quotient");
                    require(right, instruction, "a divisor");
                    yield left.with(right);
                }
                case Opcodes.ISHL, Opcodes.ISHR, Opcodes.IUSHR -> {
                    if (!isCutOff(instruction.getNext())) {
                        require(left, instruction, "a shift");
                    }
                    yield left.canBeNegative() ? left : Known.NOT_NEGATIVE;
                }
                case Opcodes.IF_ICMPEQ,
                        Opcodes.IF_ICMPNE,
                        Opcodes.IF_ICMPLT,
                        Opcodes.IF_ICMPGE,
                        Opcodes.IF_ICMPGT,
                        Opcodes.IF_ICMPLE -> null;
                case Opcodes.IALOAD -> Known.CAN_BE_NEGATIVE;
                case Opcodes.FALOAD -> Known.OTHER;
                case Opcodes.FCMPL, Opcodes.FCMPG, Opcodes.DCMPL, Opcodes.DCMPG -> Known.OTHER;
                case Opcodes.FADD, Opcodes.FSUB, Opcodes.FMUL, Opcodes.FDIV -> Known.OTHER;
                case Opcodes.DADD, Opcodes.DSUB, Opcodes.DMUL, Opcodes.DDIV -> Known.WIDE;
                default -> throw unknown(instruction);
            };
        }

        /** Whether 16 bits at most are left of a value. */
        private static boolean isCutOff(AbstractInsnNode next) {
            return next.getOpcode() == Opcodes.I2S
                    || next.getNext() != null
                            && next.getNext().getOpcode() == Opcodes.IAND
                            && mask(next) > 0
                            && mask(next) <= HALF;
        }

        private static int mask(AbstractInsnNode constant) {
            return switch (constant) {
                case IntInsnNode number -> number.operand;
                case LdcInsnNode loaded when loaded.cst instanceof Integer number -> number;
                case AbstractInsnNode small
                when small.getOpcode() > Opcodes.ICONST_0 && small.getOpcode() <= Opcodes.ICONST_5 ->
                    small.getOpcode() - Opcodes.ICONST_0;
                default -> 0;
            };
        }

        /** Only where a constant is taken from something known is the result known. */
        private Known difference(AbstractInsnNode subtraction, Known left) {
            if (left.canBeNegative()) {
                return left;
            }
            return switch (subtraction.getPrevious()) {
                case IntInsnNode constant -> Known.atLeast((long) left.least() - constant.operand);
                case AbstractInsnNode constant
                when constant.getOpcode() >= Opcodes.ICONST_0 && constant.getOpcode() <= Opcodes.ICONST_5 ->
                    Known.atLeast((long) left.least() - (constant.getOpcode() - Opcodes.ICONST_0));
                default -> Known.CAN_BE_NEGATIVE;
            };
        }

        @Override
        public Known ternaryOperation(AbstractInsnNode instruction, Known first, Known second, Known third) {
            return switch (instruction.getOpcode()) {
                case Opcodes.IASTORE, Opcodes.FASTORE -> null;
                default -> throw unknown(instruction);
            };
        }

        @Override
        public Known naryOperation(AbstractInsnNode instruction, List<? extends Known> values) {
            MethodInsnNode call = (MethodInsnNode) instruction;
            Place helper = places.get(Place.key(call.owner, call.name, call.desc));
            if (helper != null) {
                return new Run(helper, values).result();
            }
            if (call.owner.equals("java/lang/Math") && call.name.equals("min")) {
                return values.get(0).with(values.get(1));
            }
            if (call.owner.equals("java/lang/Math") && call.name.equals("max")) {
                return Known.atLeast(
                        Math.max(values.get(0).least(), values.get(1).least()));
            }
            return newValue(Type.getReturnType(call.desc));
        }

        @Override
        public void returnOperation(AbstractInsnNode instruction, Known value, Known expected) {}

        @Override
        public Known merge(Known one, Known other) {
            return one.words() == other.words()
                    ? new Known(one.words(), Math.min(one.least(), other.least()))
                    : Known.OTHER;
        }
    }
}
