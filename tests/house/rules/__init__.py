"""What the house asks of its files. Each rule takes text and gives findings, so that bad examples can be tried."""
