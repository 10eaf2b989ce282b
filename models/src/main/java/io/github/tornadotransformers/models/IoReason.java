package io.github.tornadotransformers.models;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Why a file could not be read or written, in words that fit behind its name. The JDK's messages often are the name alone. */
public final class IoReason {
    private IoReason() {}

    /** On one line, without control characters. */
    public static String of(IOException cause) {
        return switch (cause) {
            case NoSuchFileException absent -> named(absent) + "does not exist";
            case AccessDeniedException denied ->
                "no permission" + (denied.getFile() == null ? "" : " for " + file(denied));
            case FileAlreadyExistsException there -> named(there) + (isFile(there) ? "is a file" : "is there already");
            case NotDirectoryException file -> named(file) + "is not a folder";
            case DirectoryNotEmptyException folder -> named(folder) + "is a folder with files in it";
            case FileSystemException other when other.getReason() != null -> Quoted.line(other.getReason());
            case FileSystemException other -> words(other);
            default -> cause.getMessage() == null ? words(cause) : Quoted.line(cause.getMessage());
        };
    }

    private static String named(FileSystemException cause) {
        return cause.getFile() == null ? "it " : file(cause) + " ";
    }

    private static String file(FileSystemException cause) {
        return Quoted.path(Path.of(cause.getFile()));
    }

    private static boolean isFile(FileSystemException cause) {
        return cause.getFile() != null && Files.isRegularFile(Path.of(cause.getFile()));
    }

    /** The exception's name: better than nothing. */
    private static String words(IOException cause) {
        return cause.getClass().getSimpleName();
    }
}
