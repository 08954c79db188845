"""Settings under the module paths of HTA."""
