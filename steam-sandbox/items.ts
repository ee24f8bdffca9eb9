import { readFileSync } from 'node:fs'
import { wordOf } from './words.ts'

/** One line of items/*.json: a kind of item. Each of its wears is a separate item class. */
type Line = {
  name: string
  type: string
  icon: string
  rarity?: string
  quality?: string
  wears?: number[]
  /**
   * Colours by paint number. Each paint is a separate class under the same name, like the phases of a Doppler.
   */
  paints?: Record<string, string>
  tradable?: false
  /**
   * Marks a twin: a second item with the name of another one. The twin is worth less: the market does not accept it
   * unless `marketable` is set. `marketableInDays`: at each read, the twin's description promises that the market will
   * accept it after this many days.
   */
  twin?: { marketable?: 1; marketableInDays?: number; note?: string }
}

type Tag = { category: string; internal_name: string; localized_tag_name: string; color?: string }

/** An item class as Steam defines it: everything that equal items share. Colours are six hexadecimal digits. */
export type ItemClass = {
  classId: string
  appId: number
  name: string
  type: string
  icon: string
  color: string
  tradable: boolean
  /** The paint, if Steam reports its number. `isFirst`: the first of several paints under one name. */
  paint?: { index: number; color: string; isFirst: boolean }
  twin?: Line['twin']
  tags: Tag[]
}

export const GAMES = [
  { appId: 730, name: 'Counter-Strike 2', file: 'cs' },
  { appId: 570, name: 'Dota 2', file: 'dota' },
  { appId: 440, name: 'Team Fortress 2', file: 'tf' },
  { appId: 252490, name: 'Rust', file: 'rust' },
] as const

const WEARS = ['Factory New', 'Minimal Wear', 'Field-Tested', 'Well-Worn', 'Battle-Scarred']
/** `BattleScared` is Valve's spelling. */
const TF_WEARS = ['FactoryNew', 'MinimalWear', 'FieldTested', 'WellWorn', 'BattleScared']
const RARITY_COLORS: Record<string, string> = {
  Common: 'b0c3d9',
  Uncommon: '5e98d9',
  Rare: '4b69ff',
  Mythical: '8847ff',
  Legendary: 'd32ce6',
  Ancient: 'eb4b4b',
  Contraband: 'e4ae39',
  Immortal: 'e4ae39',
  Arcana: 'ade55c',
  Seasonal: 'fff34f',
}
const TF_COLORS: Record<string, string> = {
  Unique: '7d6d00',
  vintage: '476291',
  rarity1: '4d7455',
  strange: 'cf6a32',
  rarity4: '8650ac',
  haunted: '38f3ab',
  paintkitweapon: 'fafafa',
}
const PREFIXES: Record<number, Record<string, string>> = {
  730: { strange: 'StatTrak™ ', tournament: 'Souvenir ', unusual: '★ ', unusual_strange: '★ StatTrak™ ' },
  440: {
    strange: 'Strange ',
    rarity4: 'Unusual ',
    vintage: 'Vintage ',
    rarity1: 'Genuine ',
    haunted: 'Haunted ',
  },
}

const DAY_MS = 86_400_000
/** The digit in a class id for an item without wears. Wears have the digits 0 to 4. */
const NO_WEAR = 9

/** Every item class of the sandbox, by class id. */
export const CATALOGUE: ReadonlyMap<string, ItemClass> = new Map(
  GAMES.flatMap(({ appId, file }) =>
    readLines(file).flatMap((line, index) => classesOf(appId, line, index)),
  ).map((entry) => [entry.classId, entry]),
)

function readLines(file: string): Line[] {
  return JSON.parse(readFileSync(new URL(`items/${file}.json`, import.meta.url), 'utf8'))
}

function classesOf(appId: number, line: Line, index: number): ItemClass[] {
  const paints = Object.entries(line.paints ?? {}).map(([number, color], order) => ({
    idSuffix: order === 0 ? '' : String(order),
    paint: { index: Number(number), color, isFirst: order === 0 },
  }))
  const appearances = paints.length > 0 ? paints : [{ idSuffix: '' }]
  const kinds = (line.wears ?? [undefined]).flatMap((wear) => appearances.map((each) => ({ wear, ...each })))
  return kinds.map(({ wear, idSuffix, ...painted }) => {
    const prefix = PREFIXES[appId]?.[line.quality ?? ''] ?? ''
    const suffix = wear === undefined ? '' : ` (${WEARS[wear]})`
    return {
      classId: `${appId}${String(index).padStart(3, '0')}${wear ?? NO_WEAR}${idSuffix}`,
      appId,
      name: `${prefix}${line.name}${suffix}`,
      type: appId === 252490 ? 'Workshop Item' : line.type,
      icon: line.icon,
      color: colorOf(appId, line),
      tradable: line.tradable ?? true,
      ...painted,
      ...(line.twin ? { twin: line.twin } : {}),
      tags: tagsOf(appId, line, wear),
    }
  })
}

function colorOf(appId: number, line: Line): string {
  const rarity = line.rarity?.split('_')[0] ?? ''
  if (appId === 440) return TF_COLORS[line.quality ?? 'Unique'] ?? 'b2b2b2'
  return RARITY_COLORS[rarity] ?? 'a7ec2e'
}

function tagsOf(appId: number, line: Line, wear: number | undefined): Tag[] {
  const tag = (category: string, internal: string, label: string) => ({
    category,
    internal_name: internal,
    localized_tag_name: label,
  })
  if (appId === 252490)
    return [tag('itemclass', line.type, line.type), tag('steamcat', 'steamcat.item', 'Item')]
  const quality = line.quality ?? (appId === 730 ? 'normal' : appId === 440 ? 'Unique' : 'unique')
  const tags: Tag[] = [
    tag('Type', line.type.replaceAll(' ', ''), line.type),
    tag('Quality', quality, quality),
  ]
  if (line.rarity) {
    // A rarity has the same colour in every game.
    tags.push({ ...tag('Rarity', `Rarity_${line.rarity}`, line.rarity), color: colorOf(730, line) })
  }
  const exterior = appId === 440 ? `TFUI_InvTooltip_${TF_WEARS[wear ?? 0]}` : `WearCategory${wear}`
  if (wear !== undefined) tags.push(tag('Exterior', exterior, WEARS[wear] ?? ''))
  return tags
}

/** The path of an item's picture, as in Steam's descriptions. It contains the icon and the colour. */
export function iconPath({ icon, color, paint }: ItemClass): string {
  return `${icon}.${paint?.color ?? color}`
}

/** Classes of the same weapon in all its paints, including this one. */
export function paintsOf({ appId, name }: ItemClass): ItemClass[] {
  return [...CATALOGUE.values()].filter(
    (entry) => entry.appId === appId && entry.name === name && entry.paint,
  )
}

/** The properties of one weapon in Steam's answers: its wear, its pattern and its paint. */
export function propertiesOf({ paint }: ItemClass, assetId: string): object[] {
  if (paint === undefined) return []
  const last = assetId.slice(-3)
  return [
    { propertyid: 2, float_value: `0.0${last}`, name: 'Wear Rating' },
    { propertyid: 1, int_value: String(Number(last)), name: 'Pattern Template' },
    { propertyid: 7, int_value: String(paint.index), name: 'Finish Catalog' },
  ]
}

/** The description of a class as Steam's inventories and offers give it. */
export function describe(entry: ItemClass, language = 'english') {
  const note = entry.twin?.note
  return {
    appid: entry.appId,
    classid: entry.classId,
    instanceid: '0',
    currency: 0,
    background_color: '',
    icon_url: iconPath(entry),
    icon_url_large: iconPath(entry),
    descriptions: note === undefined ? [] : [{ type: 'html', value: note, name: 'attribute' }],
    tradable: entry.tradable ? 1 : 0,
    name: entry.name,
    name_color: entry.color,
    type: entry.type,
    market_name: entry.name,
    market_hash_name: entry.name,
    commodity: 0,
    market_tradable_restriction: 7,
    market_marketable_restriction: entry.appId === 730 ? 7 : 0,
    marketable: entry.tradable ? (entry.twin ? (entry.twin.marketable ?? 0) : 1) : 0,
    tags: entry.tags.map((tag) => translateTag(tag, entry.appId, language)),
  }
}

/** Grades in the game's own words, in the requested language. */
function translateTag(tag: Tag, appId: number, language: string): Tag {
  const isGrade = tag.category === 'Rarity' || tag.category === 'Quality'
  return isGrade ? { ...tag, localized_tag_name: wordOf(appId, tag.internal_name, language) } : tag
}

/** Steam's lines about the time until the market accepts an item. Steam shows them only in inventories. */
export function ownerLines({ twin }: ItemClass, nowS: number): { owner_descriptions?: object[] } {
  if (twin?.marketableInDays === undefined) return {}
  const until = new Date(nowS * 1000 + twin.marketableInDays * DAY_MS)
  const [, day, month, year] = until.toUTCString().split(' ')
  const value = `Marketable After ${month} ${day}, ${year} (7:00:00) GMT`
  return { owner_descriptions: [{ type: 'html', value, color: 'A75124' }] }
}
