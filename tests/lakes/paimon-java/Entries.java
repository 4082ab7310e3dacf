import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.index.DeletionVectorMeta;
import org.apache.paimon.index.GlobalIndexMeta;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.SpecialFields;
import org.apache.paimon.table.source.ScanMode;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.SerializationUtils;

/** The manifest entries the engine's own scan returns, each field decoded by the schema its file was written with. */
final class Entries {
    private Entries() {}

    static List<Object> live(FileStoreTable table, Snapshot snapshot) {
        return of(table, snapshot, ScanMode.ALL);
    }

    static List<Object> of(FileStoreTable table, Snapshot snapshot, ScanMode mode) {
        List<Object> out = new ArrayList<>();
        for (ManifestEntry entry : table.store().newScan().withKind(mode).withSnapshot(snapshot).plan().files()) {
            out.add(entry(table, entry));
        }
        return out;
    }

    private static Map<String, Object> entry(FileStoreTable table, ManifestEntry entry) {
        DataFileMeta file = entry.file();
        TableSchema schema = table.schemaManager().schema(file.schemaId());
        List<DataType> keys = types(schema.trimmedPrimaryKeysFields());
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("kind", entry.kind().name());
        out.put("partition", Json.list(entry.partition(), schema.logicalPartitionType().getFieldTypes()));
        out.put("partitionHex", hex(entry.partition()));
        out.put("bucket", entry.bucket());
        out.put("totalBuckets", entry.totalBuckets());
        out.put("level", file.level());
        out.put("fileName", file.fileName());
        out.put("fileSize", file.fileSize());
        out.put("rowCount", file.rowCount());
        out.put("minKey", key(file.minKey(), keys));
        out.put("maxKey", key(file.maxKey(), keys));
        out.put("keyStats", stats(file.keyStats(), keys));
        out.put("valueStats", valueStats(schema, file));
        out.put("valueStatsCols", file.valueStatsCols());
        out.put("minSequenceNumber", file.minSequenceNumber());
        out.put("maxSequenceNumber", file.maxSequenceNumber());
        out.put("schemaId", file.schemaId());
        out.put("extraFiles", file.extraFiles());
        out.put("creationTime", Json.timestamp(file.creationTime(), 3));
        out.put("deleteRowCount", file.deleteRowCount().orElse(null));
        out.put("embeddedIndexHex", file.embeddedIndex() == null ? null : Json.hex(file.embeddedIndex()));
        out.put("fileSource", file.fileSource().map(Enum::name).orElse(null));
        out.put("externalPath", file.externalPath().orElse(null));
        out.put("firstRowId", file.firstRowId());
        out.put("writeCols", file.writeCols());
        return out;
    }

    private static List<DataType> types(List<DataField> fields) {
        return fields.stream().map(DataField::type).collect(Collectors.toList());
    }

    private static String hex(BinaryRow row) {
        return Json.hex(SerializationUtils.serializeBinaryRow(row));
    }

    /** The key as values, or null where the row has no fields (append tables). */
    private static List<Object> key(BinaryRow row, List<DataType> types) {
        return row == null || row.getFieldCount() == 0 ? null : Json.list(row, types);
    }

    private static Map<String, Object> valueStats(TableSchema schema, DataFileMeta file) {
        List<String> cols = file.valueStatsCols() != null ? file.valueStatsCols() : file.writeCols();
        RowType all = schema.logicalRowType();
        RowType tracked = SpecialFields.rowTypeWithRowTracking(all);
        List<DataType> types = new ArrayList<>();
        List<String> names = cols == null ? all.getFieldNames() : cols;
        for (String name : names) {
            types.add((all.containsField(name) ? all : tracked).getField(name).type());
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("cols", names);
        out.putAll(stats(file.valueStats(), types));
        return out;
    }

    /** Min, max and null counts; a row of no fields (no statistics at all) gives three empty lists. */
    static Map<String, Object> stats(SimpleStats stats, List<DataType> types) {
        List<Object> nulls = new ArrayList<>();
        for (int i = 0; i < stats.nullCounts().size(); i++) {
            nulls.add(stats.nullCounts().isNullAt(i) ? null : stats.nullCounts().getLong(i));
        }
        int arity = stats.minValues().getFieldCount();
        if (arity != 0 && arity != types.size()) {
            throw new IllegalStateException("statistics of " + arity + " columns, expected " + types.size());
        }
        Map<String, Object> out = new LinkedHashMap<>();
        List<DataType> present = types.subList(0, arity);
        out.put("min", Json.list(stats.minValues(), present));
        out.put("max", Json.list(stats.maxValues(), present));
        out.put("nullCounts", nulls);
        return out;
    }

    static List<Object> indexes(FileStoreTable table, Snapshot snapshot) throws java.io.IOException {
        List<Object> out = new ArrayList<>();
        for (IndexManifestEntry entry : table.store().newIndexFileHandler().readManifest(snapshot.indexManifest())) {
            IndexFileMeta file = entry.indexFile();
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("kind", entry.kind().name());
            one.put("partition", Json.list(entry.partition(), table.schema().logicalPartitionType().getFieldTypes()));
            one.put("bucket", entry.bucket());
            one.put("indexType", file.indexType());
            one.put("fileName", file.fileName());
            one.put("fileSize", file.fileSize());
            one.put("rowCount", file.rowCount());
            one.put("externalPath", file.externalPath());
            one.put("deletionVectors", file.dvRanges() == null ? null : vectors(table, entry));
            one.put("globalIndex", file.globalIndexMeta() == null ? null : global(file.globalIndexMeta()));
            if (file.indexType().equals("HASH")) {
                one.put("hashes", table.store().newIndexFileHandler().hashIndex(entry.partition(), entry.bucket()).readList(file));
            }
            out.add(one);
        }
        return out;
    }

    private static List<Object> vectors(FileStoreTable table, IndexManifestEntry entry) {
        Map<String, DeletionVector> vectors = table.store().newIndexFileHandler().readAllDeletionVectors(entry);
        List<Object> out = new ArrayList<>();
        for (DeletionVectorMeta meta : entry.indexFile().dvRanges().values()) {
            DeletionVector vector = vectors.get(meta.dataFileName());
            List<Object> positions = new ArrayList<>();
            for (long position = 0; positions.size() < vector.getCardinality(); position++) {
                if (vector.isDeleted(position)) {
                    positions.add(position);
                }
            }
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("dataFileName", meta.dataFileName());
            one.put("offset", meta.offset());
            one.put("length", meta.length());
            one.put("cardinality", meta.cardinality());
            one.put("positions", positions);
            out.add(one);
        }
        return out;
    }

    private static Map<String, Object> global(GlobalIndexMeta meta) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("rowRangeStart", meta.rowRangeStart());
        out.put("rowRangeEnd", meta.rowRangeEnd());
        out.put("indexFieldId", meta.indexFieldId());
        out.put("indexMetaHex", meta.indexMeta() == null ? null : Json.hex(meta.indexMeta()));
        return out;
    }
}
