"""Money, energy and carbon dioxide of a run: rent, ownership, and what is billed beside the machines.

bill (parts of the cost) · rent (machines, time, price) · owning (an hour of one's own machines) · power
(energy) · split (the bill by what it buys) · market (what a problem's file makes of the catalog's offerings)
· stock (machines that it adds) · overflow (reserved machines and others that join them)
"""

from solver.pricing.bill import PARTS, cost_parts, stored_bytes
from solver.pricing.deal import Deal
from solver.pricing.power import carbon_kg, energy_wh, least_wh
from solver.pricing.rent import rent_usd
from solver.pricing.split import cost_split

__all__ = [
    "PARTS",
    "Deal",
    "carbon_kg",
    "cost_parts",
    "cost_split",
    "energy_wh",
    "least_wh",
    "rent_usd",
    "stored_bytes",
]
