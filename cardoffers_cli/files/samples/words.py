"""The vocabulary: markets, categories and the syllables of names that no company bears.

A market is a currency with the languages, prices and names that go with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Category:
    """A kind of merchant: how often it occurs, what is spent there, what it is called."""

    name: str
    share: int
    typical_cents: int
    english: str
    spanish: str
    portuguese: str

    def nouns(self, language: str) -> list[str]:
        """List the three words that name such a merchant."""
        texts = {"en": self.english, "es": self.spanish, "pt-BR": self.portuguese}
        return texts[language].split("|")


CATEGORIES = (
    Category(
        "grocery",
        20,
        2400,
        "Grocers|Foods|Pantry",
        "Abarrotes|Mercado|Despensa",
        "Mercearia|Mercado|Empório",
    ),
    Category(
        "dining", 17, 1850, "Kitchen|Grill|Table", "Cocina|Fonda|Parrilla", "Cozinha|Cantina|Grelha"
    ),
    Category(
        "coffee",
        11,
        420,
        "Coffee|Roasters|Tea Rooms",
        "Café|Tostadores|Cafetería",
        "Café|Torrefação|Cafeteria",
    ),
    Category(
        "fuel",
        6,
        4100,
        "Fuels|Filling Station|Motor Services",
        "Combustibles|Gasolinera|Estación",
        "Combustíveis|Posto|Auto Posto",
    ),
    Category(
        "fashion",
        10,
        3600,
        "Clothing|Outfitters|Shoes",
        "Moda|Ropa|Calzados",
        "Modas|Roupas|Calçados",
    ),
    Category(
        "pharmacy",
        7,
        1120,
        "Pharmacy|Chemists|Wellbeing",
        "Farmacia|Botica|Bienestar",
        "Farmácia|Drogaria|Bem-Estar",
    ),
    Category(
        "electronics",
        4,
        8900,
        "Electronics|Computing|Audio",
        "Electrónica|Cómputo|Audio",
        "Eletrônicos|Informática|Áudio",
    ),
    Category(
        "home",
        8,
        4100,
        "Homeware|Furnishings|Hardware",
        "Hogar|Muebles|Ferretería",
        "Casa|Móveis|Ferragens",
    ),
    Category(
        "travel",
        3,
        14500,
        "Travel|Coaches|Hotels",
        "Viajes|Autobuses|Hoteles",
        "Viagens|Ônibus|Hotéis",
    ),
    Category(
        "entertainment",
        5,
        1600,
        "Cinemas|Arcade|Theatre",
        "Cines|Boliche|Teatro",
        "Cinemas|Boliche|Teatro",
    ),
    Category(
        "sport",
        5,
        3300,
        "Sports|Cycles|Gym",
        "Deportes|Bicicletas|Gimnasio",
        "Esportes|Bicicletas|Academia",
    ),
    Category(
        "books",
        4,
        1450,
        "Books|Stationers|Games",
        "Libros|Papelería|Juegos",
        "Livros|Papelaria|Jogos",
    ),
)


@dataclass(frozen=True)
class Market:
    """A currency and what goes with it; `price_level` is prices in hundredths of British ones."""

    currency: str
    symbol: str
    price_level: int
    languages: tuple[str, ...]
    acquirers: tuple[str, ...]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]
    places: tuple[str, ...]
    noun_first: bool


_ENGLISH_PLACES = (
    "",
    "Harbourside",
    "Northgate",
    "Old Mill",
    "Market Row",
    "Riverside",
    "Station Road",
    "Quayside",
    "Eastfield",
    "Hilltop",
    "Westbrook",
    "Priory Lane",
    "Southway",
    "Canal Street",
)
_SPANISH_PLACES = (
    "",
    "Centro",
    "Norte",
    "del Parque",
    "Poniente",
    "La Loma",
    "del Puerto",
    "Oriente",
    "Las Flores",
    "Sur",
    "del Valle",
    "La Presa",
    "Plaza",
    "Jardines",
)
_PORTUGUESE_PLACES = (
    "",
    "Centro",
    "Norte",
    "do Parque",
    "Oeste",
    "da Serra",
    "do Porto",
    "Leste",
    "das Flores",
    "Sul",
    "do Vale",
    "da Praia",
    "Praça",
    "Jardins",
)

GBP = Market(
    currency="GBP",
    symbol="£",
    price_level=100,
    languages=("en", "es"),
    acquirers=("0041", "5266", "7730", "0918"),
    beginnings=tuple(
        "Ostr Quill Brav Thren Wend Corv Mald Pell Hurv Tindl Fenn Grav Lorr Skel Yarr Dunm Elst "
        "Kirv Orml Rusk Sall Tarv Umb Varl Wick Brenn Cova Dorv".split()
    ),
    endings=tuple(
        "owick ington aby ewell olme ater enby ithorpe astow ecombe ollard amoor erby ingham "
        "endale oway ith ossett aven ellow".split()
    ),
    places=_ENGLISH_PLACES,
    noun_first=False,
)
MXN = Market(
    currency="MXN",
    symbol="$",
    price_level=2000,
    languages=("es", "en"),
    acquirers=("4015", "0082", "6120"),
    beginnings=tuple(
        "Alm Bel Cor Dor Est Far Gal Lum Mor Nev Oriz Pal Quet Ram Sol Tal Val Xil Yur Zap "
        "Cam Jar Lor Mir".split()
    ),
    endings=tuple(
        "avira eltán orada umbre illosa azul ánara estre ivela oquita urel adero inda olar "
        "epeque aluz erina ozco andil uela".split()
    ),
    places=_SPANISH_PLACES,
    noun_first=True,
)
BRL = Market(
    currency="BRL",
    symbol="R$ ",
    price_level=600,
    languages=("pt-BR", "en"),
    acquirers=("1005", "2201", "0303"),
    beginnings=tuple(
        "Ar Bru Cai Dal Enc Fer Gua Ita Jur Lag Mar Nor Our Par Rib Sab Tam Uir Ven Xing "
        "Zar Pir Cor Mand".split()
    ),
    endings=tuple(
        "uvela amirim oeste inópolis anduva ajuba eiral otinga umbara aéu escal ipora avento "
        "oraes eiras ucaba anga ireu osta iuva".split()
    ),
    places=_PORTUGUESE_PLACES,
    noun_first=True,
)

BANKS = (
    ("larkmere", "Larkmere Bank", "growth", GBP),
    ("tarnhollow", "Tarnhollow Building Society", "enterprise", GBP),
    ("sierraluz", "Banco Sierraluz", "growth", MXN),
    ("aruvela", "Banco Aruvela", "enterprise", BRL),
)
"""Who takes part: slug, name, plan and market, in this order and then over again."""

TITLES = {
    "en": "{} back at {} when you spend {} or more",
    "es": "Recibe {} en {} al gastar {} o más",
    "pt-BR": "Receba {} de volta em {} ao gastar {} ou mais",
}
DESCRIPTIONS = {
    "en": "Add the offer, then pay with your card. The cashback follows once the purchase settles.",
    "es": "Activa la oferta y paga con tu tarjeta. El reembolso llega al liquidarse la compra.",
    "pt-BR": "Ative a oferta e pague com o cartão. O valor volta quando a compra for liquidada.",
}
SEGMENTS = ("student", "premium", "young_family|new_customer", "premium|private")
