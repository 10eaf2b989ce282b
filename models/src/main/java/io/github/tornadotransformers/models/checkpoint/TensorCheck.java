package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares a checkpoint's tensors with those that a program needs.
 *
 * <p>A tensor that the program does not use is refused if it could be a weight (of a floating-point type that weights have,
 * named {@code ….weight} or {@code ….bias}): the config then describes another model than the files hold. Buffers that the
 * family knows are passed over in silence, anything else with a notice.
 */
final class TensorCheck {
    private final TensorIndex tensors;
    private final String description;
    private final Set<String> used = new HashSet<>();
    private final Set<StoredType> matrixTypes = EnumSet.noneOf(StoredType.class);
    private final Set<BlockFormat> matrixBlocks = EnumSet.noneOf(BlockFormat.class);
    private final List<String> misfits = new ArrayList<>();
    private final List<String> surplus = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> missingNames = new ArrayList<>();
    private final List<String> ignored = new ArrayList<>();
    private boolean narrows;

    private TensorCheck(TensorIndex tensors, String description) {
        this.tensors = tensors;
        this.description = description;
    }

    /** @throws CheckpointException if they do not fit, naming every tensor that does not */
    static TensorCheck of(StoredModel model, TensorIndex tensors, Program program) {
        TensorCheck check = new TensorCheck(tensors, model.description());
        for (Weight weight : program.weights()) {
            check.checkWeight(weight);
        }
        check.checkUnused();
        check.requireNoProblems(model.path());
        return check;
    }

    private void requireNoProblems(Path folder) {
        wrapper().ifPresent(prefix -> {
            throw new CheckpointException(Quoted.path(folder) + ": the names of the tensors begin with "
                    + Quoted.text(prefix) + ", which a wrapper around the model has put there: save the model inside"
                    + " the wrapper, or rename the tensors");
        });
        List<String> problems =
                Stream.of(misfits, surplus, missing).flatMap(List::stream).toList();
        if (problems.size() == 1) {
            throw new CheckpointException(Quoted.path(folder) + ": " + problems.getFirst());
        }
        if (!problems.isEmpty()) {
            throw new CheckpointException(Quoted.path(folder) + ": " + problems.size() + " tensors do not fit "
                    + description + ":" + ProblemList.lines(problems));
        }
    }

    /** What stands before the names of tensors where most are not found without it. */
    private Optional<String> wrapper() {
        return 2 * missingNames.size() < used.size()
                ? Optional.empty()
                : missingNames.stream()
                        .flatMap(name -> tensors.wrapper(name).stream())
                        .findFirst();
    }

    DType storedDType() {
        if (!matrixBlocks.isEmpty()) {
            return DType.STORED;
        }
        Set<DType> widened = EnumSet.noneOf(DType.class);
        matrixTypes.forEach(type -> widened.add(type.widened()));
        return widened.size() == 1 ? widened.iterator().next() : DType.F32;
    }

    /** Whether a type in memory holds every matrix as it is stored (F64 as if it were F32). */
    boolean isKeptBy(DType dtype) {
        return dtype == DType.F32
                || dtype == DType.STORED
                || matrixBlocks.isEmpty() && matrixTypes.stream().allMatch(type -> type.widened() == dtype);
    }

    /** The types of the matrices, for a message. */
    String matrixTypes() {
        return Stream.<Enum<?>>concat(matrixBlocks.stream(), matrixTypes.stream())
                .map(Enum::name)
                .collect(Collectors.joining(" and "));
    }

    List<String> notices() {
        List<String> notices = new ArrayList<>();
        if (narrows) {
            notices.add("the checkpoint's F64 weights are narrowed to float32");
        }
        if (!ignored.isEmpty()) {
            notices.add("ignored, as they are no weights: " + ProblemList.inline(ignored));
        }
        return List.copyOf(notices);
    }

    private void checkWeight(Weight weight) {
        for (int layer = 0; layer < weight.layers(); layer++) {
            for (TensorPart part : weight.parts()) {
                String name = part.tensorName(layer);
                used.add(name);
                Optional<StoredTensor> tensor = tensors.find(name);
                if (tensor.isPresent()) {
                    checkTensor(weight, part, tensor.get());
                } else {
                    missingNames.add(name);
                    missing.add("tensor " + Quoted.text(tensors.spelled(name)) + " is missing, expected shape "
                            + weight.shapeOf(part));
                }
            }
        }
    }

    private void checkTensor(Weight weight, TensorPart part, StoredTensor tensor) {
        List<Long> expected = weight.shapeOf(tensor.form().of(part));
        if (tensor.type().isEmpty() && tensor.blocks().isEmpty()) {
            misfits.add("tensor " + Quoted.text(tensor.name()) + " has type " + Quoted.text(tensor.dtype())
                    + ", expected one of " + StoredType.allNames() + ", or " + BlockFormat.allNames());
        } else if (!tensor.shape().equals(expected)) {
            misfits.add("tensor " + Quoted.text(tensor.name()) + " has shape "
                    + Quoted.line(tensor.shape().toString()) + ", expected " + expected);
        } else if (tensor.bytes() != tensor.expectedBytes()) {
            misfits.add("tensor " + Quoted.text(tensor.name()) + " of type " + tensor.dtype() + " and shape "
                    + tensor.shape() + " has " + tensor.bytes() + " bytes, expected " + tensor.expectedBytes());
        } else {
            narrows |= tensor.type().equals(Optional.of(StoredType.F64));
            if (weight.kind() == Weight.Kind.MATRIX) {
                tensor.type().ifPresent(matrixTypes::add);
                tensor.blocks().ifPresent(matrixBlocks::add);
            }
        }
    }

    private void checkUnused() {
        for (Map.Entry<String, StoredTensor> entry : tensors.entries()) {
            String name = entry.getKey();
            StoredTensor tensor = entry.getValue();
            if (used.contains(name) || tensors.ignores(name)) {
                continue;
            }
            String words = Quoted.text(tensor.name()) + " (" + Quoted.line(tensor.dtype()) + " "
                    + Quoted.line(tensor.shape().toString()) + ")";
            if (couldBeWeight(name, tensor)) {
                surplus.add("tensor " + words + " is surplus: the model of " + description + " has none of that name");
            } else {
                ignored.add(words);
            }
        }
    }

    private static boolean couldBeWeight(String name, StoredTensor tensor) {
        return (tensor.type().isPresent() || tensor.blocks().isPresent())
                && tensor.bytes() > 0
                && (name.endsWith(".weight") || name.endsWith(".bias"));
    }
}
