package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Failure;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A model on the hub: what {@code OWNER/NAME[@REVISION]} or a short name stands for.
 *
 * @param name as the user has it
 * @param repository OWNER/NAME
 * @param asked the branch, tag or commit that the user names; empty: what a short name means, else {@code main}
 */
record HubModel(String name, String repository, Optional<String> asked) {
    private static final char AT = '@';
    private static final String MAIN = "main";

    /** The hub's rule for names of owners and repositories, in which neither {@code ..} nor {@code --} may be. */
    private static final Pattern REPOSITORY =
            Pattern.compile("(?!.*(\\.\\.|--))[A-Za-z0-9_][A-Za-z0-9._-]{0,95}/[A-Za-z0-9_][A-Za-z0-9._-]{0,95}");

    private static final Pattern REVISION =
            Pattern.compile("(?!.*(\\.\\.|//))[A-Za-z0-9_]([A-Za-z0-9._/-]{0,254}[A-Za-z0-9_])?");

    /**
     * @return empty if it is no name of such a model
     * @throws Failure if what follows the {@code @} cannot be a revision
     */
    static Optional<HubModel> parse(String name) {
        int at = name.indexOf(AT);
        String base = at < 0 ? name : name.substring(0, at);
        Optional<String> repository = KnownModel.named(base)
                .map(KnownModel::repository)
                .or(() -> Optional.of(base)
                        .filter(text -> REPOSITORY.matcher(text).matches()));
        return repository.map(found ->
                new HubModel(name, found, at < 0 ? Optional.empty() : Optional.of(revision(name.substring(at + 1)))));
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
