//! Exports columns as Arrow record batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, LargeStringArray, PrimitiveArray, RecordBatch, RecordBatchOptions, RecordBatchReader,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use kinetoscope::table::{Cells, ColumnType, ColumnValues, SCHEMA_VERSION, TableRows};

use crate::memory::{OUT_OF_MEMORY, caught, is_out_of_memory};

/// Rows of a batch: enough to make the work per batch vanish, few enough to keep batches small.
const BATCH_ROWS: usize = 1 << 15;

/// Batches that are made on demand.
pub(crate) struct Batches {
    rows_of: Arc<dyn TableRows>,
    columns: Vec<usize>,
    schema: SchemaRef,
    rest: Range<usize>,
}

impl Batches {
    pub(crate) fn new(rows_of: Arc<dyn TableRows>, columns: Vec<usize>) -> Self {
        let schema = Arc::new(schema(&*rows_of, &columns));
        let rest = 0..rows_of.num_rows();
        Self { rows_of, columns, schema, rest }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let rows = self.rest.start..self.rest.end.min(self.rest.start + BATCH_ROWS);
        self.rest.start = rows.end;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = || {
            let arrays = self.columns.iter().map(|column| array(self.rows_of.values(*column, rows.clone())));
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays.collect(), &options)
        };
        // The caller is written in C, where no panic may pass.
        Some(caught(batch).unwrap_or_else(|panic| {
            let is_memory = is_out_of_memory(&*panic);
            let words = if is_memory { OUT_OF_MEMORY } else { "a table was not made: this is a bug in Kinetoscope" };
            Err(if is_memory { ArrowError::MemoryError(words.into()) } else { ArrowError::ComputeError(words.into()) })
        }))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The batches behind Arrow's C interface.
pub(crate) fn stream(batches: Batches) -> FFI_ArrowArrayStream {
    FFI_ArrowArrayStream::new(Box::new(batches))
}

/// The types behind Arrow's C interface.
pub(crate) fn ffi_schema(rows_of: &dyn TableRows, columns: &[usize]) -> Result<FFI_ArrowSchema, ArrowError> {
    FFI_ArrowSchema::try_from(&schema(rows_of, columns))
}

fn schema(rows_of: &dyn TableRows, columns: &[usize]) -> Schema {
    let about = [
        ("kinetoscope_schema_version", SCHEMA_VERSION),
        ("kinetoscope_version", kinetoscope::VERSION),
        ("kinetoscope_table", rows_of.name()),
        ("row", rows_of.doc()),
    ];
    let fields: Vec<_> = columns.iter().map(|column| field(rows_of, *column)).collect();
    Schema::new(fields).with_metadata(about)
}

fn field(rows_of: &dyn TableRows, column: usize) -> Field {
    let field = Field::new(rows_of.column_name(column), data_type(rows_of.column_type(column)), true);
    match rows_of.column_unit(column) {
        Some(unit) => field.with_metadata([("unit", unit)]),
        None => field,
    }
}

fn data_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::Int => DataType::Int64,
        ColumnType::UInt => DataType::UInt64,
        ColumnType::Float => DataType::Float64,
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Text | ColumnType::Json => DataType::LargeUtf8,
    }
}

fn array(values: ColumnValues) -> ArrayRef {
    match values {
        ColumnValues::Int(values) => numbers::<Int64Type>(values),
        ColumnValues::UInt(values) => numbers::<UInt64Type>(values),
        ColumnValues::Float(values) => numbers::<Float64Type>(values),
        ColumnValues::Bool(values) => Arc::new(values.iter().collect::<BooleanArray>()),
        ColumnValues::Text { bytes, ends, valid } => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let texts = starts.zip(&ends).zip(&valid);
            Arc::new(
                texts.map(|((start, end), valid)| valid.then(|| &bytes[start..*end])).collect::<LargeStringArray>(),
            )
        }
    }
}

fn numbers<T: ArrowPrimitiveType<Native: Default>>(cells: Cells<T::Native>) -> ArrayRef {
    let (values, valid) = cells.into_parts();
    Arc::new(PrimitiveArray::<T>::new(values.into(), valid.map(Into::into)))
}
