package io.github.tornadotransformers.runner.hub;

import io.github.tornadotransformers.models.ByteCount;
import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.StatusLine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * Fetches one file into a folder. What is not whole yet lies beside it as {@code .NAME.VERSION.part}; it is continued by the
 * next attempt, also one of another day, and gets its name only when size and checksum are right.
 */
final class Download {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int VERSION_DIGITS = 16;
    private static final String PART = ".part";
    private static final double NANOS_PER_SECOND = 1e9;

    private final Hub hub;
    private final Console console;
    private final HubModel model;
    private final String revision;
    private final Path folder;
    private final String file;
    private final Persistence persistence;
    private final Optional<Arrivals> all;
    private Optional<String> commit = Optional.empty();

    Download(
            Hub hub,
            Console console,
            HubModel model,
            String revision,
            Path folder,
            String file,
            Persistence persistence,
            Optional<Arrivals> all) {
        this.hub = hub;
        this.console = console;
        this.model = model;
        this.revision = revision;
        this.folder = folder;
        this.file = file;
        this.persistence = persistence;
        this.all = all;
    }

    /** The commit that the file is of, once it is here, where the hub tells it. */
    Optional<String> commit() {
        return commit;
    }

    /**
     * Tries as long as attempts bring something.
     *
     * @return whether the repository has the file
     * @throws Failure if it cannot be had whole
     */
    boolean run() {
        IOException broken = null;
        long furthest = begunBytes();
        long first = furthest;
        for (int fruitless = 0; fruitless < persistence.attempts(); ) {
            try {
                return attempt();
            } catch (IOException e) {
                broken = e;
                long here = begunBytes();
                if (e instanceof UnreachableException && here <= first) {
                    throw Failure.of(e.getMessage(), e); // and not the network that went away in between
                }
                fruitless = here > furthest ? 0 : fruitless + 1;
                furthest = Math.max(furthest, here);
                if (fruitless < persistence.attempts()) {
                    pause(pauseAfter(e, fruitless), e);
                }
            }
        }
        throw Failure.of(
                file + " of " + model.name() + " did not come whole: " + persistence.attempts()
                        + " attempts in a row brought nothing (" + IoReason.of(broken)
                        + "): run the command again, and it continues where it stopped",
                broken);
    }

    /** As long as the hub wants, where that is not too long to sit and wait. */
    private Duration pauseAfter(IOException reason, int fruitless) {
        Duration usual = persistence.pause(fruitless);
        Duration wanted = reason instanceof BusyException busy ? busy.pause().orElse(usual) : usual;
        if (wanted.compareTo(persistence.longestPause()) > 0) {
            throw Failure.of(
                    IoReason.of(reason) + " and wants no other for " + RetryAfter.words(wanted)
                            + ": run the command again then, and it continues where it stopped",
                    reason);
        }
        return wanted.compareTo(usual) > 0 ? wanted : usual;
    }

    private void pause(Duration pause, IOException reason) {
        if (!Thread.currentThread().isInterrupted()) {
            console.err().println(file + ": " + IoReason.of(reason) + "; trying again in " + RetryAfter.words(pause));
        }
        try {
            Thread.sleep(pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(file + " of " + model.name() + " was given up", e);
        }
    }

    /** How much of the file is here. */
    private long begunBytes() {
        try {
            Optional<Path> part = begunPart();
            return part.isPresent() ? Files.size(part.get()) : 0;
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private boolean attempt() throws IOException {
        Optional<Path> begun = begunPart();
        long here = begun.isPresent() ? Files.size(begun.get()) : 0;
        Optional<Hub.Content> found = hub.open(model, revision, file, here);
        if (found.isEmpty()) {
            return false;
        }
        Hub.Content content = found.get();
        try (InputStream body = content.body()) {
            Path part = part(content);
            if (begun.isPresent() && !begun.get().equals(part)) {
                Files.delete(begun.get());
                arrived(-here);
                if (content.offset() > 0) {
                    throw new IOException("the file has changed on the hub");
                }
            }
            receive(content, body, part);
            finish(content, part);
            commit = content.commit();
        }
        return true;
    }

    private Optional<Path> begunPart() throws IOException {
        return begunPart(folder, file);
    }

    /** How much of a file lies in a folder, whole or not. */
    static long bytesOf(Path folder, String file) throws IOException {
        Path whole = folder.resolve(file);
        if (Files.isRegularFile(whole)) {
            return Files.size(whole);
        }
        Optional<Path> part = begunPart(folder, file);
        return part.isPresent() ? Files.size(part.get()) : 0;
    }

    private static Optional<Path> begunPart(Path folder, String file) throws IOException {
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(folder, "." + file + ".*" + PART)) {
            for (Path part : parts) {
                return Optional.of(part);
            }
            return Optional.empty();
        }
    }

    private Path part(Hub.Content content) {
        String version = content.etag()
                .map(etag -> Sha256.of(etag).substring(0, VERSION_DIGITS))
                .orElse("");
        return folder.resolve("." + file + "." + version + PART);
    }

    private void receive(Hub.Content content, InputStream body, Path part) throws IOException {
        long bytes = content.offset();
        if (content.size().isPresent()) {
            requireSensible(content.size().getAsLong(), part);
            requireSpace(content.size().getAsLong() - bytes);
        }
        if (bytes == 0 && Files.exists(part)) {
            arrived(-Files.size(part));
        }
        long started = System.nanoTime();
        StatusLine line = all.isPresent() ? StatusLine.none() : console.status();
        try (Arrivals alone = Arrivals.of(line, file, bytes, content.size());
                StallGuard guard = StallGuard.over(body, persistence.stall());
                OutputStream out = bytes > 0
                        ? Files.newOutputStream(part, StandardOpenOption.APPEND)
                        : Files.newOutputStream(part)) {
            Arrivals arrivals = all.orElse(alone);
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
                bytes += read;
                requireSensible(bytes, part);
                out.write(buffer, 0, read);
                guard.progress();
                arrivals.add(read);
            }
        }
        say(bytes, (bytes - content.offset()) * NANOS_PER_SECOND / Math.max(1, System.nanoTime() - started));
    }

    private void arrived(long bytes) {
        all.ifPresent(arrivals -> arrivals.add(bytes));
    }

    private void say(long bytes, double bytesPerSecond) {
        console.err()
                .println(String.format(
                        Locale.ROOT,
                        "%-28s %s, %s/s",
                        file,
                        ByteCount.words(bytes),
                        ByteCount.words(Math.round(bytesPerSecond))));
    }

    /** Ends the download of a file that is larger than any of its name. */
    private void requireSensible(long bytes, Path part) throws IOException {
        long most = ModelFiles.mostBytes(file);
        if (bytes > most) {
            Files.deleteIfExists(part);
            throw Failure.of(file + " of " + model.name() + " has " + ByteCount.words(bytes)
                    + " or more, expected at most " + ByteCount.words(most) + ": it is not what its name says");
        }
    }

    private void requireSpace(long needed) {
        requireSpace(folder, file + " of " + model.name(), needed);
    }

    /** @param what is downloaded, in words */
    static void requireSpace(Path folder, String what, long needed) {
        try {
            long free = Files.getFileStore(folder).getUsableSpace();
            if (needed > free) {
                throw Failure.of(what + " needs " + ByteCount.words(needed) + ", but only " + ByteCount.words(free)
                        + " are free in " + folder + ": make room, or set " + CacheFolder.VARIABLE);
            }
        } catch (IOException e) {
            throw Failure.of(folder + " cannot be read: " + IoReason.of(e), e);
        }
    }

    private void finish(Hub.Content content, Path part) throws IOException {
        long bytes = Files.size(part);
        if (content.size().isPresent() && bytes < content.size().getAsLong()) {
            throw new IOException(bytes + " of " + content.size().getAsLong() + " bytes came");
        }
        if (content.size().isPresent() && bytes > content.size().getAsLong()) {
            Files.delete(part);
            throw new IOException(
                    bytes + " bytes came, expected " + content.size().getAsLong());
        }
        if (content.sha256().isPresent()
                && !sha256(part).equals(content.sha256().get())) {
            Files.delete(part);
            throw Failure.of(file + " of " + model.name() + " came with a wrong SHA-256 checksum, expected "
                    + content.sha256().get() + ", and was thrown away: run the command again");
        }
        Files.move(part, folder.resolve(file), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String sha256(Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            return Sha256.of(in);
        }
    }
}
