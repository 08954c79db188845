"""Analysis modules, under the module paths of HTA."""
