"""Learns to tell pictures of clothes apart with PyTorch, and writes the network as ONNX: what tfl build makes a library of.

    python3 examples/onnx/train.py examples/onnx/clothes.onnx        [EPOCHS]    (needs torch, onnx and onnxscript; the model is there already)
"""
import gzip
import sys

import numpy as np
import onnx
import torch
from torch import nn

FOLDER = "/usr/share/datasets/fashion-mnist"


def pictures(name):
    with gzip.open(f"{FOLDER}/{name}-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(f"{FOLDER}/{name}-labels-idx1-ubyte.gz") as f:
        y = np.frombuffer(f.read(), np.uint8, offset=8)
    return torch.tensor(x / np.float32(255)), torch.tensor(y.astype(np.int64))


def block(inputs, outputs, stride, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = block(1, 16, 2)
        self.wide = nn.Sequential(block(16, 16, 1, 16), nn.Conv2d(16, 16, 1))
        self.down = nn.Sequential(block(16, 32, 2), block(32, 32, 1))
        self.head = nn.Sequential(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(288, 10), nn.Softmax(1))

    def forward(self, x):
        x = self.stem(x)
        return self.head(self.down(x + self.wide(x)))


def main(path, epochs=3):
    torch.manual_seed(0)
    x, y = pictures("train")
    model = Network()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(128):
            loss = nn.functional.nll_loss(torch.log(model(x[rows]) + 1e-9), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            test, labels = pictures("t10k")
            print(f"epoch {epoch + 1}: {(model(test).argmax(1) == labels).float().mean():.4f}")
    torch.onnx.export(model, (x[:2],), path, input_names=["images"], output_names=["probabilities"], dynamo=True, external_data=False,
                      dynamic_shapes=({0: torch.export.Dim("batch")},))
    without_places(path)


def without_places(path):
    """Leaves out where in which file each node comes from."""
    model = onnx.load(path)
    graph = model.graph
    for part in [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        del part.metadata_props[:]
    onnx.save(model, path)


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv + ["3"])[2]))
