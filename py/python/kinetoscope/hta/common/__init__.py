"""Traces, filters and call graphs, under the module paths of HTA."""
