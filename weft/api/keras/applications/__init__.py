"""tf.keras.applications: networks for images, without their weights, which programs give."""

from __future__ import annotations

from weft.api.keras.applications import densenet as densenet
from weft.api.keras.applications import imagenet_utils as imagenet_utils
from weft.api.keras.applications import inception_resnet_v2 as inception_resnet_v2
from weft.api.keras.applications import inception_v3 as inception_v3
from weft.api.keras.applications import mobilenet as mobilenet
from weft.api.keras.applications import mobilenet_v2 as mobilenet_v2
from weft.api.keras.applications import nasnet as nasnet
from weft.api.keras.applications import resnet as resnet
from weft.api.keras.applications import resnet50 as resnet50
from weft.api.keras.applications import resnet_v2 as resnet_v2
from weft.api.keras.applications import vgg16 as vgg16
from weft.api.keras.applications import vgg19 as vgg19
from weft.api.keras.applications import xception as xception
from weft.networks.applications.densenet import DenseNet121 as DenseNet121
from weft.networks.applications.densenet import DenseNet169 as DenseNet169
from weft.networks.applications.densenet import DenseNet201 as DenseNet201
from weft.networks.applications.inception import InceptionV3 as InceptionV3
from weft.networks.applications.inception_resnet import InceptionResNetV2 as InceptionResNetV2
from weft.networks.applications.mobilenet import MobileNet as MobileNet
from weft.networks.applications.mobilenet import MobileNetV2 as MobileNetV2
from weft.networks.applications.nasnet import NASNetLarge as NASNetLarge
from weft.networks.applications.nasnet import NASNetMobile as NASNetMobile
from weft.networks.applications.resnet import ResNet50 as ResNet50
from weft.networks.applications.resnet import ResNet50V2 as ResNet50V2
from weft.networks.applications.resnet import ResNet101 as ResNet101
from weft.networks.applications.resnet import ResNet101V2 as ResNet101V2
from weft.networks.applications.resnet import ResNet152 as ResNet152
from weft.networks.applications.resnet import ResNet152V2 as ResNet152V2
from weft.networks.applications.vgg import VGG16 as VGG16
from weft.networks.applications.vgg import VGG19 as VGG19
from weft.networks.applications.xception import Xception as Xception
