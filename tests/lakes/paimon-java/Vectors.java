import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;

/** Commit messages that no writer makes by itself: deletes of an append table, rows of a known row id, postponed files. */
final class Vectors {
    private Vectors() {}

    /** Deletes the given positions of each live file whose row count allows it, as Spark's DELETE does. */
    static List<CommitMessage> deleting(Lake lake, Map<Integer, long[]> positionsByFile) {
        Map<BinaryRow, List<Integer>> byPartition = new LinkedHashMap<>();
        for (Integer index : positionsByFile.keySet()) {
            byPartition.computeIfAbsent(lake.partition(index).copy(), p -> new ArrayList<>()).add(index);
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (Map.Entry<BinaryRow, List<Integer>> entry : byPartition.entrySet()) {
            messages.add(message(lake, entry.getKey(), entry.getValue(), positionsByFile));
        }
        return messages;
    }

    private static CommitMessage message(
            Lake lake, BinaryRow partition, List<Integer> files, Map<Integer, long[]> positionsByFile) {
        BaseAppendDeleteFileMaintainer maintainer =
                BaseAppendDeleteFileMaintainer.forUnawareAppend(
                        lake.table.store().newIndexFileHandler(), lake.table.snapshotManager().latestSnapshot(), partition);
        boolean wide = lake.table.coreOptions().deletionVectorBitmap64();
        for (Integer index : files) {
            DeletionVector vector = wide ? new Bitmap64DeletionVector() : new BitmapDeletionVector();
            for (long position : positionsByFile.get(index)) {
                vector.delete(position);
            }
            maintainer.notifyNewDeletionVector(lake.file(index).fileName(), vector);
        }
        List<IndexFileMeta> added = new ArrayList<>();
        List<IndexFileMeta> deleted = new ArrayList<>();
        for (IndexManifestEntry entry : maintainer.persist()) {
            (entry.kind() == FileKind.ADD ? added : deleted).add(entry.indexFile());
        }
        List<DataFileMeta> none = Collections.emptyList();
        return new CommitMessageImpl(
                partition, 0, -1, new DataIncrement(none, none, none, added, deleted), CompactIncrement.emptyIncrement());
    }

    static List<CommitMessage> withFirstRowId(List<CommitMessage> messages, long firstRowId) {
        List<CommitMessage> out = new ArrayList<>();
        for (CommitMessage message : messages) {
            CommitMessageImpl impl = (CommitMessageImpl) message;
            List<DataFileMeta> files = new ArrayList<>();
            for (DataFileMeta file : impl.newFilesIncrement().newFiles()) {
                files.add(file.assignFirstRowId(firstRowId));
            }
            List<DataFileMeta> none = Collections.emptyList();
            out.add(
                    new CommitMessageImpl(
                            impl.partition(),
                            impl.bucket(),
                            impl.totalBuckets(),
                            new DataIncrement(files, none, none),
                            impl.compactIncrement()));
        }
        return out;
    }

    /** Takes the postponed files (bucket -2) out and puts the rows of realWrite's files in, as Flink's compaction does. */
    static List<CommitMessage> replacingPostponed(Lake lake, List<CommitMessage> real) {
        List<CommitMessage> out = new ArrayList<>();
        List<DataFileMeta> none = Collections.emptyList();
        for (CommitMessage message : real) {
            CommitMessageImpl impl = (CommitMessageImpl) message;
            List<DataFileMeta> after = new ArrayList<>(impl.newFilesIncrement().newFiles());
            after.removeAll(impl.compactIncrement().compactBefore());
            after.addAll(impl.compactIncrement().compactAfter());
            out.add(
                    new CommitMessageImpl(
                            impl.partition(),
                            impl.bucket(),
                            impl.totalBuckets(),
                            DataIncrement.emptyIncrement(),
                            new CompactIncrement(none, after, none)));
        }
        for (ManifestEntry entry : lake.entries()) {
            if (entry.bucket() == -2) {
                out.add(
                        new CommitMessageImpl(
                                entry.partition(),
                                -2,
                                -2,
                                DataIncrement.emptyIncrement(),
                                new CompactIncrement(Collections.singletonList(entry.file()), none, none)));
            }
        }
        return out;
    }
}
