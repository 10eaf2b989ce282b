package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** {@code model.safetensors.index.json}: which shard holds which tensor. */
final class ShardIndex {
    static final String FILE_NAME = "model.safetensors.index.json";
    static final String WEIGHT_MAP = "weight_map";

    private final Path file;
    private final Map<String, String> shardOf;

    private ShardIndex(Path file, Map<String, String> shardOf) {
        this.file = file;
        this.shardOf = shardOf;
    }

    static ShardIndex read(Path file) {
        JsonNode weightMap = CheckpointFiles.readJson(file).get(WEIGHT_MAP);
        if (weightMap == null || !weightMap.isObject() || weightMap.isEmpty()) {
            throw new CheckpointException(
                    Quoted.path(file) + ": expected " + WEIGHT_MAP + ", an object of tensor names and shard files");
        }
        Map<String, String> shardOf = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : weightMap.properties()) {
            if (!entry.getValue().isTextual()) {
                throw new CheckpointException(Quoted.path(file) + ": the shard of tensor "
                        + Quoted.text(entry.getKey()) + " is "
                        + Quoted.line(entry.getValue().toString()) + ", expected a file name");
            }
            shardOf.put(entry.getKey(), entry.getValue().textValue());
        }
        return new ShardIndex(file, shardOf);
    }

    /**
     * Opens every shard that the index names. The folder is its owner's, so a link in it may lead anywhere; a name is whoever
     * made the index's, and may not.
     *
     * @throws CheckpointException if a shard's name leaves the folder, or shards or tensors are missing
     */
    List<SafetensorsFile> openShards() {
        Map<String, Path> paths = new LinkedHashMap<>();
        for (String shard : new TreeSet<>(shardOf.values())) {
            paths.put(shard, path(shard));
        }
        List<String> absent = paths.entrySet().stream()
                .filter(entry -> !CheckpointFiles.isThere(entry.getValue()))
                .map(entry -> Quoted.text(entry.getKey()))
                .toList();
        if (!absent.isEmpty()) {
            throw new CheckpointException(Quoted.path(file) + " names shards that are not in its folder: "
                    + ProblemList.inline(absent) + "; download the checkpoint again");
        }
        List<SafetensorsFile> shards = new ArrayList<>();
        for (Map.Entry<String, Path> entry : paths.entrySet()) {
            SafetensorsFile shard = SafetensorsFile.open(entry.getValue());
            requireTensors(entry.getKey(), shard);
            shards.add(shard);
        }
        return shards;
    }

    private void requireTensors(String shardName, SafetensorsFile shard) {
        List<String> lacking = shardOf.entrySet().stream()
                .filter(entry -> entry.getValue().equals(shardName))
                .map(Map.Entry::getKey)
                .filter(tensor -> !shard.tensors().containsKey(tensor))
                .map(Quoted::text)
                .toList();
        if (!lacking.isEmpty()) {
            throw new CheckpointException(Quoted.path(shard.file()) + " lacks tensors that " + FILE_NAME
                    + " says it holds: " + ProblemList.inline(lacking));
        }
    }

    private Path path(String shard) {
        try {
            Path relative = Path.of(shard);
            boolean climbs = false;
            for (Path part : relative) {
                climbs |= part.toString().equals("..");
            }
            if (!relative.isAbsolute() && !climbs && !shard.isEmpty()) {
                return file.resolveSibling(relative);
            }
        } catch (InvalidPathException _) {
            throw leavesFolder(shard);
        }
        throw leavesFolder(shard);
    }

    private CheckpointException leavesFolder(String shard) {
        return new CheckpointException(Quoted.path(file) + " names the shard " + Quoted.text(shard)
                + ", expected a file within the checkpoint's folder");
    }
}
