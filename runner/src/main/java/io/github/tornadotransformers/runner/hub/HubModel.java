package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Failure;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A model on the hub: what {@code OWNER/NAME[@REVISION][:FILE.gguf]} or a short name stands for.
 *
 * @param name as the user has it
 * @param repository OWNER/NAME
 * @param asked the branch, tag or commit that the user names; empty: what a short name means, else {@code main}
 * @param gguf the one file that is wanted; empty: a checkpoint in Hugging Face's layout
 */
record HubModel(String name, String repository, Optional<String> asked, Optional<String> gguf) {
    private static final char AT = '@';
    private static final String MAIN = "main";

    /** The hub's rule for names of owners and repositories, in which neither {@code ..} nor {@code --} may be. */
    private static final Pattern REPOSITORY =
            Pattern.compile("(?!.*(\\.\\.|--))[A-Za-z0-9_][A-Za-z0-9._-]{0,95}/[A-Za-z0-9_][A-Za-z0-9._-]{0,95}");

    /** A name right in the repository. */
    private static final Pattern FILE =
            Pattern.compile("([^:]+):((?!.*\\.\\.)[A-Za-z0-9_][A-Za-z0-9._+-]{0,250}\\.gguf)");

    private static final Pattern SPLIT = Pattern.compile("(.+)-00001-of-([0-9]{5})\\.gguf");

    private static final Pattern REVISION =
            Pattern.compile("(?!.*(\\.\\.|//))[A-Za-z0-9_]([A-Za-z0-9._/-]{0,254}[A-Za-z0-9_])?");

    /**
     * @return empty if it is no name of such a model
     * @throws Failure if what follows the {@code @} cannot be a revision
     */
    static Optional<HubModel> parse(String name) {
        Matcher file = FILE.matcher(name);
        String model = file.matches() ? file.group(1) : name;
        int at = model.indexOf(AT);
        String base = at < 0 ? model : model.substring(0, at);
        Optional<String> repository = KnownModel.named(base)
                .map(KnownModel::repository)
                .or(() -> Optional.of(base)
                        .filter(text -> REPOSITORY.matcher(text).matches()));
        return repository.map(found -> new HubModel(
                name,
                found,
                at < 0 ? Optional.empty() : Optional.of(revision(model.substring(at + 1))),
                file.matches() ? Optional.of(file.group(2)) : Optional.empty()));
    }

    /** The files of a model in one file, of which llama.cpp splits large ones: {@code NAME-00001-of-00003.gguf}. */
    List<String> ggufFiles() {
        Matcher split = SPLIT.matcher(gguf.orElseThrow());
        return split.matches()
                ? IntStream.rangeClosed(1, Integer.parseInt(split.group(2)))
                        .mapToObj(i ->
                                String.format(Locale.ROOT, "%s-%05d-of-%s.gguf", split.group(1), i, split.group(2)))
                        .toList()
                : List.of(gguf.get());
    }

    private static String revision(String text) {
        if (!REVISION.matcher(text).matches()) {
            throw Failure.usage(Quoted.text(text) + " cannot be a revision: expected a branch, a tag or a commit, as in"
                    + " owner/name@main");
        }
        return text;
    }

    /** The published commit or branch to fetch. */
    String revision() {
        return asked.or(() -> known().map(KnownModel::revision)).orElse(MAIN);
    }

    /** Of a repository, in the revision, that has a short name. */
    Optional<KnownModel> known() {
        return KnownModel.of(repository)
                .filter(model -> asked.isEmpty() || asked.get().equals(model.revision()));
    }

    /** Of its folder in our cache: revisions lie apart. */
    String folderName() {
        return known().map(KnownModel::name)
                .orElseGet(() -> repository.replace("/", "--")
                        + asked.map(revision -> AT + revision.replace("/", "--"))
                                .orElse(""));
    }
}
