"""What tests of scigate and of its providers are made with."""
