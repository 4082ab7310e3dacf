import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.operation.LocalOrphanFilesClean;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.table.AppendOnlyFileStoreTable;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.tag.TagTimeExpire;

/** Runs procedures of Paimon's Java core on tables: a line each of `directory TAB procedure TAB key=value;…`. */
public final class Maintain {
    private static FileStoreTable table;
    private static Map<String, String> options;

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Paths.get(arguments[0]))) {
            String[] parts = line.split("\t", -1);
            options = new HashMap<>();
            for (String pair : parts[2].split(";")) {
                if (!pair.isEmpty()) {
                    options.put(pair.split("=", 2)[0], pair.split("=", 2)[1]);
                }
            }
            String error = "";
            try {
                table = FileStoreTableFactory.create(LocalFileIO.create(), new Path(parts[0]));
                Map<String, String> writes = new HashMap<>();
                writes.put("write-only", "false");
                table = table.copy(writes);
                run(parts[1]);
            } catch (Throwable caught) {
                Throwable cause = caught;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                error = (cause.getClass().getSimpleName() + ": " + cause.getMessage()).split("\n")[0];
            }
            Files.writeString(Paths.get(parts[0] + ".error"), error);
        }
        System.exit(0);
    }

    private static void run(String procedure) throws Exception {
        switch (procedure) {
            case "expire_snapshots":
                expireSnapshots();
                break;
            case "rollback":
                String version = options.get("version");
                if (version.chars().allMatch(Character::isDigit)) {
                    table.rollbackTo(Long.parseLong(version));
                } else {
                    table.rollbackTo(version);
                }
                break;
            case "delete_tag":
                for (String tag : options.get("tag").split(",")) {
                    table.deleteTag(tag);
                }
                break;
            case "expire_tags":
                TagTimeExpire expire =
                        TagTimeExpire.create(
                                table.snapshotManager(), table.tagManager(), table.store().newTagDeletion(), new ArrayList<>());
                if (options.containsKey("older_than")) {
                    expire.withOlderThanTime(LocalDateTime.parse(options.get("older_than").replace(' ', 'T')));
                }
                expire.expire();
                break;
            case "remove_orphan_files":
                new LocalOrphanFilesClean(table, Long.MAX_VALUE / 2, false).clean();
                break;
            case "compact":
                compact();
                break;
            default:
                throw new IllegalArgumentException(procedure);
        }
    }

    private static void expireSnapshots() {
        ExpireConfig.Builder config = ExpireConfig.builder();
        if (options.containsKey("retain_max")) {
            config.snapshotRetainMax(Integer.parseInt(options.get("retain_max")));
        }
        if (options.containsKey("retain_min")) {
            config.snapshotRetainMin(Integer.parseInt(options.get("retain_min")));
        }
        if (options.containsKey("max_deletes")) {
            config.snapshotMaxDeletes(Integer.parseInt(options.get("max_deletes")));
        }
        if (options.containsKey("older_than")) {
            long time = java.sql.Timestamp.valueOf(options.get("older_than")).getTime();
            config.snapshotTimeRetain(Duration.ofMillis(System.currentTimeMillis() - time));
        }
        table.newExpireSnapshots().config(config.build()).expire();
    }

    private static void compact() throws Exception {
        boolean full = options.get("full").equals("True");
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            if (table.bucketMode() == BucketMode.BUCKET_UNAWARE) {
                commit.commit(compactBins());
                return;
            }
            write.withIOManager(IOManager.create("/tmp/lakes/maintenance-spill"));
            Set<String> seen = new HashSet<>();
            for (Split split : table.newSnapshotReader().read().splits()) {
                BinaryRow partition = ((DataSplit) split).partition();
                int bucket = ((DataSplit) split).bucket();
                if (seen.add(partition + " " + bucket)) {
                    write.compact(partition, bucket, full);
                }
            }
            commit.commit(write.prepareCommit());
        }
    }

    private static List<CommitMessage> compactBins() throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        AppendOnlyFileStoreTable append = (AppendOnlyFileStoreTable) table;
        BaseAppendFileStoreWrite write = append.store().newWrite("maintain");
        write.withIOManager(IOManager.create("/tmp/lakes/maintenance-spill"));
        for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
            messages.add(task.doCompact(table, write));
        }
        write.close();
        return messages;
    }
}
