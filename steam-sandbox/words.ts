/** The games' own words for grades of items, as in Steam's tags. */

/** English and Russian words by the name in the tag. Without a Russian word, the English one serves both languages. */
type Words = Record<string, [english: string, russian?: string]>

const CS: Words = {
  Rarity_Common_Weapon: ['Consumer Grade', 'Ширпотреб'],
  Rarity_Uncommon_Weapon: ['Industrial Grade', 'Промышленное качество'],
  Rarity_Rare_Weapon: ['Mil-Spec Grade', 'Армейское качество'],
  Rarity_Mythical_Weapon: ['Restricted', 'Запрещённое'],
  Rarity_Legendary_Weapon: ['Classified', 'Засекреченное'],
  Rarity_Ancient_Weapon: ['Covert', 'Тайное'],
  Rarity_Contraband: ['Contraband', 'Контрабанда'],
  Rarity_Common: ['Base Grade', 'базового класса'],
  Rarity_Rare: ['High Grade', 'высшего класса'],
  Rarity_Mythical: ['Remarkable', 'примечательного типа'],
  Rarity_Legendary: ['Exotic', 'экзотичного вида'],
  Rarity_Ancient: ['Extraordinary', 'экстраординарного типа'],
  Rarity_Ancient_Character: ['Master', 'Мастерский'],
  normal: ['Normal', 'Обычный'],
  strange: ['StatTrak™'],
  tournament: ['Souvenir', 'Сувенирный'],
  unusual: ['★'],
  unusual_strange: ['★ StatTrak™'],
}

const DOTA: Words = {
  unique: ['Standard'],
  strange: ['Inscribed'],
  exalted: ['Exalted'],
  genuine: ['Genuine'],
  lucky: ['Auspicious'],
  unusual: ['Unusual'],
}

const TF: Words = {
  Unique: ['Unique', 'Уникальный'],
  strange: ['Strange', 'Странного типа'],
  rarity4: ['Unusual', 'Необычного типа'],
  rarity1: ['Genuine', 'Высшей пробы'],
  vintage: ['Vintage', 'Старой закалки'],
  haunted: ['Haunted', 'Призрачного типа'],
  paintkitweapon: ['Decorated Weapon', 'Украшенное оружие'],
}

const WORDS: Record<number, Words> = { 730: CS, 570: DOTA, 440: TF }

/** Returns the word of a tag in the requested language. The names of Dota's rarities are already words. */
export function wordOf(appId: number, internalName: string, language: string): string {
  const [english, russian] = WORDS[appId]?.[internalName] ?? [internalName.replace(/^Rarity_/, '')]
  return language === 'russian' ? (russian ?? english) : english
}
