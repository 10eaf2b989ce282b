package io.github.tornadotransformers.runner.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.checkpoint.CheckpointFiles;
import io.github.tornadotransformers.models.checkpoint.CheckpointWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where the files of a folder in our cache come from, written beside them.
 *
 * @param repository OWNER/NAME
 * @param revision the commit, so that all files are of one version, whenever they come
 * @param asked the branch or tag that led there; empty where none was named
 */
public record Source(String repository, String revision, Optional<String> asked) {
    static final String FILE = ".source.json";

    private static final String REPOSITORY = "repository";
    private static final String REVISION = "revision";
    private static final String ASKED = "asked";
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

    /** Whether it is a commit's hash, which always means the same files. */
    static boolean isCommit(String revision) {
        return COMMIT.matcher(revision).matches();
    }

    /** Empty where nothing says it. */
    public static Optional<Source> of(Path folder) {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            ObjectNode json = CheckpointFiles.readJson(file);
            return text(json, REPOSITORY)
                    .flatMap(repository -> text(json, REVISION)
                            .filter(Source::isCommit)
                            .map(revision -> new Source(repository, revision, text(json, ASKED))));
        } catch (CheckpointException _) {
            return Optional.empty(); // the files beside it are as good as those placed by hand
        }
    }

    private static Optional<String> text(JsonNode json, String field) {
        return Optional.ofNullable(json.path(field).textValue());
    }

    void write(Path folder) throws IOException {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put(REPOSITORY, repository).put(REVISION, revision);
        asked.ifPresent(text -> json.put(ASKED, text));
        CheckpointWriter.writeJson(folder.resolve(FILE), json);
    }
}
