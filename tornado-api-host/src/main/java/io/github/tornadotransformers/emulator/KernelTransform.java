package io.github.tornadotransformers.emulator;

import java.lang.classfile.Attributes;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeAnnotation;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.IncrementInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import uk.ac.manchester.tornado.api.annotations.Parallel;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * Rewrites one method: {@code for (@Parallel int i = 0; i < n; i++) body} becomes {@code for (int p = 0; p < n; p++) { int i =
 * Items.item(p, n); body }}, and each access to an array's element is announced to {@link Items}.
 */
final class KernelTransform implements CodeTransform {
    private static final ClassDesc ITEMS = Items.class.describeConstable().orElseThrow();
    private static final ClassDesc PARALLEL = Parallel.class.describeConstable().orElseThrow();
    private static final ClassDesc ARRAY =
            TornadoNativeArray.class.describeConstable().orElseThrow();
    private static final MethodTypeDesc ITEM =
            MethodTypeDesc.of(ConstantDescs.CD_int, ConstantDescs.CD_int, ConstantDescs.CD_int);
    private static final MethodTypeDesc ACCESS = MethodTypeDesc.of(ConstantDescs.CD_void, ARRAY, ConstantDescs.CD_int);
    private static final int NO_LOOP = -1;

    private final boolean logs;
    private final int variable;
    private final Label start;
    private State state;
    private int position = NO_LOOP;

    private enum State {
        NO_LOOP,
        BEFORE,
        HEADER,
        BOUND,
        BODY
    }

    private KernelTransform(boolean logs, int variable, Label start) {
        this.logs = logs;
        this.variable = variable;
        this.start = start;
        this.state = variable == NO_LOOP ? State.NO_LOOP : State.BEFORE;
    }

    static MethodTransform of(CodeModel code, boolean logs) {
        List<TypeAnnotation.LocalVarTargetInfo> loops =
                code.findAttributes(Attributes.runtimeVisibleTypeAnnotations()).stream()
                        .flatMap(attribute -> attribute.annotations().stream())
                        .filter(annotation ->
                                annotation.annotation().classSymbol().equals(PARALLEL))
                        .map(TypeAnnotation::targetInfo)
                        .filter(TypeAnnotation.LocalVarTarget.class::isInstance)
                        .map(TypeAnnotation.LocalVarTarget.class::cast)
                        .flatMap(target -> target.table().stream())
                        .toList();
        if (loops.size() > 1) {
            throw new EmulatorException("the emulator runs kernels of one parallel loop, not of " + loops.size());
        }
        return MethodTransform.transformingCode(CodeTransform.ofStateful(() -> loops.isEmpty()
                ? new KernelTransform(logs, NO_LOOP, null)
                : new KernelTransform(
                        logs, loops.getFirst().index(), loops.getFirst().startLabel())));
    }

    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
        switch (element) {
            case LabelTarget label
            when state == State.BEFORE && label.label().equals(start) -> {
                // The variable's scope begins when it has its first value.
                position = builder.allocateLocal(TypeKind.INT);
                builder.iload(variable).istore(position).with(label);
                state = State.HEADER;
            }
            case LoadInstruction load
            when state == State.HEADER && load.slot() == variable -> {
                builder.iload(position);
                state = State.BOUND;
            }
            case BranchInstruction branch
            when state == State.BOUND && branch.opcode() == Opcode.IF_ICMPGE -> {
                builder.dup2()
                        .invokestatic(ITEMS, "item", ITEM)
                        .istore(variable)
                        .with(branch);
                state = State.BODY;
            }
            case IncrementInstruction increment
            when state == State.BODY && increment.slot() == variable -> builder.iinc(position, increment.constant());
            case StoreInstruction store
            when state == State.BODY && store.slot() == variable -> {
                // The slot may serve another variable after the loop.
                state = State.NO_LOOP;
                builder.with(store);
            }
            case InvokeInstruction call when logs && isAccess(call) -> announce(builder, call);
            default -> builder.with(element);
        }
    }

    private static boolean isAccess(InvokeInstruction call) {
        String owner = call.owner().asInternalName();
        return owner.startsWith(TornadoNativeArray.class.getPackageName().replace('.', '/') + "/")
                && (call.name().equalsString("get") || call.name().equalsString("set"));
    }

    private static void announce(CodeBuilder builder, InvokeInstruction call) {
        if (call.name().equalsString("get")) {
            builder.dup2().invokestatic(ITEMS, "reads", ACCESS).with(call);
        } else {
            TypeKind kind = TypeKind.from(call.typeSymbol().parameterType(1));
            int value = builder.allocateLocal(kind);
            builder.storeLocal(kind, value)
                    .dup2()
                    .invokestatic(ITEMS, "writes", ACCESS)
                    .loadLocal(kind, value)
                    .with(call);
        }
    }
}
