"""What is trained, from the training that a file states: of a problem and of a stated run alike."""

from solver.architecture import Architecture
from solver.architecture.flops import PATCHES
from solver.catalog import Catalog
from solver.estimate import Job
from solver.physics.schedules import NAMED
from solver.physics.setting import NO_IMAGES, ONE_F_ONE_B, TOGETHER, Images, Local
from solver.problem import Training


def job_of(architecture: Architecture, training: Training, catalog: Catalog, schedule: str | None) -> Job:
    """One step of it. schedule: as the layout names it; None: 1F1B, interleaved or not."""
    return Job(
        architecture=architecture,
        sequence=training.sequence_length,
        global_batch=training.global_batch,
        steps=1,
        gradient_dtype=training.gradient_dtype,
        document=training.document,
        operations=catalog.operations["operations"],
        schedule=NAMED.get(schedule or "", ONE_F_ONE_B),
        images=images_of(architecture, training),
        local=local_of(training),
        optimizer=training.optimizer,
    )


def local_of(training: Training) -> Local:
    """Workers that train apart."""
    stated = training.local_sgd
    return Local(stated.workers, stated.steps, stated.bandwidth or 0.0) if stated else TOGETHER


def images_of(architecture: Architecture, training: Training) -> Images:
    """Images of a sequence, and the patches of one."""
    each = training.images or float(architecture.images)
    return Images(each, training.image_patches or PATCHES) if architecture.towers and each else NO_IMAGES
