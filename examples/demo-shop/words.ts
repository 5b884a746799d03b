// Vocabulary of the demo shop. The shop and all its people are fictional.

interface Department {
  readonly name: string;
  readonly materials: readonly string[];
  /** Lowest and highest product price, in whole euros. */
  readonly price: readonly [number, number];
  readonly shelves: Readonly<Record<string, readonly string[]>>;
}

// biome-ignore format: one shelf a line
export const departments: readonly Department[] = [
  {
    name: 'Kitchen', materials: ['Ash', 'Walnut', 'Stoneware', 'Steel', 'Copper', 'Cork'], price: [6, 140],
    shelves: {
      'Boards & Knives': ['Carving Board', 'Bread Board', 'Paring Knife Block', 'Cheese Board', 'Knife Rack'],
      'Pots & Pans': ['Saucepan', 'Casserole', 'Skillet', 'Milk Pan', 'Stockpot'],
      'Tea & Coffee': ['Teapot', 'Dripper', 'Kettle Stand', 'Mug', 'Sugar Pot'],
      Storage: ['Bread Bin', 'Spice Jar', 'Pantry Crate', 'Oil Bottle', 'Cookie Tin'],
    },
  },
  {
    name: 'Living Room', materials: ['Oak', 'Linen', 'Wool', 'Rattan', 'Velvet', 'Brass'], price: [15, 690],
    shelves: {
      Seating: ['Armchair', 'Footstool', 'Reading Chair', 'Bench', 'Floor Cushion'],
      Lighting: ['Table Lamp', 'Floor Lamp', 'Pendant', 'Wall Light', 'Lantern'],
      Textiles: ['Throw', 'Cushion Cover', 'Rug', 'Curtain Pair', 'Table Runner'],
      Shelves: ['Bookshelf', 'Wall Shelf', 'Magazine Rack', 'Side Table', 'Record Stand'],
    },
  },
  {
    name: 'Bedroom', materials: ['Cotton', 'Linen', 'Flannel', 'Pine', 'Bamboo', 'Down'], price: [12, 420],
    shelves: {
      Bedding: ['Duvet Cover', 'Fitted Sheet', 'Pillowcase Pair', 'Blanket', 'Bedspread'],
      Sleep: ['Pillow', 'Duvet', 'Mattress Topper', 'Eye Mask', 'Bolster'],
      Wardrobe: ['Clothes Rail', 'Hanger Set', 'Laundry Basket', 'Shoe Rack', 'Drawer Divider'],
      Nightstand: ['Bedside Table', 'Alarm Clock', 'Tray', 'Book Rest', 'Carafe'],
    },
  },
  {
    name: 'Bathroom', materials: ['Terry', 'Teak', 'Marble', 'Glass', 'Hemp', 'Steel'], price: [5, 160],
    shelves: {
      Towels: ['Hand Towel', 'Bath Sheet', 'Guest Towel', 'Bath Mat', 'Robe'],
      Accessories: ['Soap Dish', 'Toothbrush Cup', 'Shelf Basket', 'Mirror', 'Hook Strip'],
      Care: ['Body Brush', 'Soap Trio', 'Bath Salts Jar', 'Sponge Set', 'Nail Brush'],
      Laundry: ['Hamper', 'Drying Rack', 'Peg Bag', 'Ironing Mat', 'Lint Brush'],
    },
  },
  {
    name: 'Garden', materials: ['Terracotta', 'Zinc', 'Cedar', 'Willow', 'Iron', 'Jute'], price: [4, 380],
    shelves: {
      Pots: ['Planter', 'Herb Trough', 'Hanging Basket', 'Saucer', 'Seed Tray'],
      Tools: ['Hand Trowel', 'Pruner', 'Watering Can', 'Rake', 'Dibber'],
      Furniture: ['Folding Chair', 'Bistro Table', 'Deck Chair', 'Garden Bench', 'Parasol Base'],
      Wildlife: ['Bird Feeder', 'Nest Box', 'Bee House', 'Bird Bath', 'Hedgehog Shelter'],
    },
  },
  {
    name: 'Study', materials: ['Beech', 'Leather', 'Felt', 'Brass', 'Paper', 'Steel'], price: [3, 520],
    shelves: {
      Desks: ['Writing Desk', 'Standing Desk', 'Monitor Shelf', 'Desk Mat', 'Desk Drawer'],
      Stationery: ['Notebook', 'Pen Cup', 'Letter Tray', 'Bookmark Set', 'Card Box'],
      Filing: ['Document Case', 'Magazine File', 'Archive Box', 'Wall Pocket', 'Folder Set'],
      Chairs: ['Desk Chair', 'Stool', 'Seat Pad', 'Back Rest', 'Foot Rest'],
    },
  },
  {
    name: 'Outdoors', materials: ['Canvas', 'Waxed', 'Wool', 'Enamel', 'Cork', 'Hickory'], price: [8, 340],
    shelves: {
      Camp: ['Tarp', 'Camp Chair', 'Mess Kit', 'Fire Grate', 'Camp Stool'],
      Bags: ['Rucksack', 'Duffel', 'Tote', 'Roll-Top Bag', 'Saddle Bag'],
      Picnic: ['Picnic Rug', 'Hamper', 'Flask', 'Cool Box', 'Plate Set'],
      Walking: ['Walking Stick', 'Gaiters', 'Map Case', 'Rain Cape', 'Bottle Sling'],
    },
  },
  {
    name: 'Children', materials: ['Maple', 'Cotton', 'Felt', 'Birch', 'Wool', 'Rubber'], price: [5, 230],
    shelves: {
      Play: ['Building Blocks', 'Pull-Along Cart', 'Puzzle', 'Marble Run', 'Doll House'],
      Nursery: ['Mobile', 'Cot Blanket', 'Night Light', 'Toy Basket', 'Growth Chart'],
      Mealtime: ['Bowl Set', 'Bib Pair', 'Beaker', 'Snack Box', 'Spoon Trio'],
      Crafts: ['Easel', 'Weaving Loom', 'Crayon Roll', 'Stamp Kit', 'Clay Set'],
    },
  },
];

/** Product lines, the first word of a product name. */
export const lines = ['Harbour', 'Fjord', 'Meadow', 'Juniper', 'Lantern Hill', 'Saltmarsh', 'Nordlys', 'Tern'];

// biome-ignore format: many short words
export const firstNames = [
  'Amara', 'Anselm', 'Birgit', 'Bruno', 'Camille', 'Cedric', 'Dagny', 'Dario', 'Elif', 'Emil', 'Fatou', 'Felix', 'Greta',
  'Hugo', 'Imani', 'Ines', 'Jakub', 'Joana', 'Kaya', 'Kenji', 'Lars', 'Leonie', 'Mateo', 'Mina', 'Nadia', 'Noah', 'Olga',
  'Oskar', 'Pauline', 'Priya', 'Quentin', 'Rafael', 'Ronja', 'Sanne', 'Selma', 'Tadeo', 'Thea', 'Umar', 'Ursula', 'Vera',
  'Viktor', 'Wanda', 'Yara', 'Yusuf', 'Zoé', 'Zoran', 'Søren', 'Łucja', 'José', 'Björk',
];

// biome-ignore format: many short words
export const lastNames = [
  'Aalto', 'Abara', 'Becker', 'Belmonte', 'Castel', 'Cohen', 'Dahl', 'Duarte', 'Eriksen', 'Escobar', 'Fontaine', 'Fujita',
  'Garnier', 'Goossens', 'Haddad', 'Hoffmann', 'Ibarra', 'Ivanova', 'Jansen', 'Jovanović', 'Kaya', 'Kowalska', 'Laurent',
  'Lindqvist', 'Marchetti', 'Meyer', 'Nakamura', 'Novák', 'Okafor', 'Olsen', 'Pereira', 'Petrov', 'Quist', 'Renard',
  'Rossi', 'Salonen', 'Schäfer', 'Tamm', 'Tavares', 'Ueda', 'Urbina', 'Vandenberg', 'Virtanen', 'Weiss', 'Wójcik', 'Yılmaz',
  'Zanetti', 'Zhou', "O'Rourke", 'de la Fuente',
];

export const places: readonly (readonly [city: string, country: string, dialling: string])[] = [
  ['Bergen', 'NO', '+47'],
  ['Gothenburg', 'SE', '+46'],
  ['Aarhus', 'DK', '+45'],
  ['Turku', 'FI', '+358'],
  ['Hamburg', 'DE', '+49'],
  ['Leipzig', 'DE', '+49'],
  ['Köln', 'DE', '+49'],
  ['Utrecht', 'NL', '+31'],
  ['Ghent', 'BE', '+32'],
  ['Lyon', 'FR', '+33'],
  ['Nantes', 'FR', '+33'],
  ['Paris', 'FR', '+33'],
  ['Porto', 'PT', '+351'],
  ['Bilbao', 'ES', '+34'],
  ['Málaga', 'ES', '+34'],
  ['Turin', 'IT', '+39'],
  ['Graz', 'AT', '+43'],
  ['Basel', 'CH', '+41'],
  ['Gdańsk', 'PL', '+48'],
  ['Brno', 'CZ', '+420'],
  ['Cork', 'IE', '+353'],
  ['Leeds', 'GB', '+44'],
  ['Bristol', 'GB', '+44'],
];

export const trades = ['Studio', 'Interiors', 'Café', 'Guesthouse', 'Architects', 'Bakery', 'Practice', 'Workshop'];
export const makers = ['Timber', 'Weavers', 'Pottery', 'Metalworks', 'Glass', 'Textiles', 'Joinery', 'Trading'];

export const virtues = [
  'made to be used every day',
  'finished by hand',
  'from a small workshop that has made nothing else for decades',
  'easy to mend, and we keep the spare parts',
  'lighter than it looks',
  'better after a year than on the first day',
  'sized for small homes',
  'with ten years of guarantee',
];

export const orderNotes = [
  'Please leave it with the neighbour on the left.',
  'Gift: no invoice in the parcel, please.',
  'Ring twice, the bell is quiet.',
  'Deliver after 17:00 if you can.',
  'Second attempt, the first parcel came back.',
  'Company order, cost centre 4410.',
];

/** By rating, 1 to 5. */
export const verdicts: readonly (readonly [title: string, body: string])[][] = [
  [
    ['Broken on arrival', 'The corner was split and the box was not. Sent it back the same day.'],
    ['Not what I ordered', 'The colour has nothing to do with the picture. Customer care was kind, at least.'],
    ['Would not buy again', 'It wobbled from the first day and the screws do not hold.'],
  ],
  [
    ['Disappointing', 'Looks fine from afar, but the finish is rough and the edges are sharp.'],
    ['Smaller than expected', 'Read the measurements twice, I did not. Too small for four people.'],
    ['Late and scratched', 'Came a week late and with a scratch that nobody wants to explain.'],
  ],
  [
    ['All right', 'Does what it should. I expected a little more for the price.'],
    ['Good, with a catch', 'Lovely to look at, tiresome to clean.'],
    ['Average', 'Neither good nor bad. It stays, since sending it back is more work.'],
  ],
  [
    ['Very nice', 'Solid, simple and well packed. One star less because it smelled of varnish for a week.'],
    ['Happy with it', 'We use it every day. The second one is already ordered.'],
    ['Good quality', 'Heavier than I thought, and that is a compliment.'],
  ],
  [
    ['Wonderful', 'The best thing I have bought this year. Every guest asks where it is from.'],
    ['Exactly right', 'Fits as if it had been made for our flat. Delivery was quick as well.'],
    ['A present that worked', 'My sister opened it and would not put it down. Thank you!'],
  ],
];

export const coupons = ['WELCOME10', 'SPRING', 'FREESHIP', 'NEIGHBOUR'];
