/** Turns Steam's description of an item into the fields for the widget. */
import type { Game } from '../../contract/games.ts'
import type { Item } from '../../contract/widget-api.ts'
import { phaseOf } from '../pricing/phase.ts'
import type { SteamItem } from '../steam/steam.ts'

export type ItemFacts = Pick<Item, 'name' | 'rarity' | 'rarityName' | 'wearCategory' | 'isStatTrak' | 'phase'>

type Described = Pick<SteamItem, 'name' | 'marketHashName' | 'tags' | 'paintIndex'>
type Rarity = Item['rarity']
type Wear = NonNullable<Item['wearCategory']>

const RARITY_TAG =
  /^Rarity_(Common|Uncommon|Rare|Mythical|Legendary|Ancient|Contraband|Immortal|Arcana|Seasonal)(?:_|$)/

const RARITY_LEVEL: Record<string, Rarity> = {
  Common: 'rarity-1',
  Uncommon: 'rarity-2',
  Seasonal: 'rarity-2',
  Rare: 'rarity-3',
  Mythical: 'rarity-4',
  Legendary: 'rarity-5',
  Ancient: 'rarity-6',
  Contraband: 'rarity-7',
  Immortal: 'rarity-7',
  Arcana: 'rarity-7',
}

/** Team Fortress grades most items only by their quality. */
const TF_QUALITY_LEVEL: Record<string, Rarity> = {
  Unique: 'rarity-1',
  vintage: 'rarity-2',
  rarity1: 'rarity-2',
  strange: 'rarity-3',
  haunted: 'rarity-4',
  paintkitweapon: 'rarity-4',
  collectors: 'rarity-5',
  selfmade: 'rarity-6',
  community: 'rarity-6',
}

const TF_UNUSUAL = 'rarity4'
const CS_STARRED = ['unusual', 'unusual_strange']
const CS_STATTRAK = ['strange', 'unusual_strange']
const STATTRAK_NAME = /^(?:★ )?StatTrak™ /

const WEAR_OF_TAG: Record<string, Wear> = {
  WearCategory0: 'WearCategory0',
  WearCategory1: 'WearCategory1',
  WearCategory2: 'WearCategory2',
  WearCategory3: 'WearCategory3',
  WearCategory4: 'WearCategory4',
  TFUI_InvTooltip_FactoryNew: 'WearCategory0',
  TFUI_InvTooltip_MinimalWear: 'WearCategory1',
  TFUI_InvTooltip_FieldTested: 'WearCategory2',
  TFUI_InvTooltip_WellWorn: 'WearCategory3',
  // Valve's misspelling, and the correct form in case Valve fixes it.
  TFUI_InvTooltip_BattleScared: 'WearCategory4',
  TFUI_InvTooltip_BattleScarred: 'WearCategory4',
}

/** The item's name in the language of the call, or its market name if Steam sent none. */
export const nameOf = ({ name, marketHashName }: Pick<Described, 'name' | 'marketHashName'>): string =>
  name || marketHashName

/** Unknown tags mean no rarity, no wear, no StatTrak. */
export function itemFacts(item: Described, game: Game): ItemFacts {
  const phase = phaseOf(item, game)
  return {
    name: nameOf(item),
    rarity: rarityOf(item, game),
    rarityName: gradeOf(item, game),
    wearCategory: wearOf(item, game),
    isStatTrak: game === 'cs' && isStatTrak(item),
    ...(phase !== undefined && { phase }),
  }
}

function rarityOf(item: Described, game: Game): Rarity {
  const quality = tagOf(item, 'Quality') ?? ''
  const graded = lookUp(RARITY_LEVEL, RARITY_TAG.exec(tagOf(item, 'Rarity') ?? '')?.[1])
  switch (game) {
    case 'cs':
      return CS_STARRED.includes(quality) ? 'rarity-7' : (graded ?? 'rarity-0')
    case 'dota':
      return graded ?? 'rarity-0'
    case 'tf':
      if (isUnusual(item.tags)) return 'rarity-7'
      return graded ?? lookUp(TF_QUALITY_LEVEL, quality) ?? 'rarity-0'
    case 'rust':
      return 'rarity-0'
    default:
      return game satisfies never
  }
}

/** The grade in words, in the language of the call; null if the game, or Steam, has none. */
function gradeOf(item: Described, game: Game): string | null {
  if (game === 'rust') return null
  const [rarity, quality] = [wordOf(item, 'Rarity'), wordOf(item, 'Quality')]
  if (game === 'tf') return (isUnusual(item.tags) ? quality : rarity || quality) || null
  return rarity || null
}

function wordOf({ tags }: Pick<Described, 'tags'>, category: string): string | undefined {
  return tags.find((tag) => tag.category === category)?.name
}

/** True if a Team Fortress item has an unusual effect. */
export function isUnusual(tags: SteamItem['tags']): boolean {
  return tagOf({ tags }, 'Quality') === TF_UNUSUAL
}

function wearOf(item: Described, game: Game): Item['wearCategory'] {
  if (game !== 'cs' && game !== 'tf') return null
  return lookUp(WEAR_OF_TAG, tagOf(item, 'Exterior')) ?? null
}

function isStatTrak(item: Described): boolean {
  const quality = tagOf(item, 'Quality')
  // The market hash name is in English, whatever the language of the call.
  return quality === undefined ? STATTRAK_NAME.test(item.marketHashName) : CS_STATTRAK.includes(quality)
}

function tagOf({ tags }: Pick<Described, 'tags'>, category: string): string | undefined {
  return tags.find((tag) => tag.category === category)?.internalName
}

/** Tags are hostile: a name such as `constructor` must not find an inherited property. */
function lookUp<T>(table: Record<string, T>, key: string | undefined): T | undefined {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined
}
