import { describe, expect, test } from 'vitest'
import { GAMES, type Game } from '../../contract/games.ts'
import { phaseOf } from '../pricing/phase.ts'
import { itemFacts } from './item.ts'

const item = (name: string, tags: Record<string, string>, marketHashName = name) => ({
  name,
  marketHashName,
  paintIndex: null,
  tags: Object.entries(tags).map(([category, internalName]) => ({
    category,
    internalName,
    name: `${category}: ${internalName}`,
  })),
})

type Row = [
  what: string,
  game: Game,
  described: ReturnType<typeof item>,
  facts: [rarity: string, wear: string | null, isStatTrak: boolean],
]

const CS = 'AK-47 | Redline (Field-Tested)'

const ROWS: Row[] = [
  [
    'cs: a painted gun',
    'cs',
    item(CS, {
      Type: 'CSGO_Type_Rifle',
      Quality: 'normal',
      Rarity: 'Rarity_Legendary_Weapon',
      Exterior: 'WearCategory2',
    }),
    ['rarity-5', 'WearCategory2', false],
  ],
  [
    'cs: StatTrak',
    'cs',
    item(`StatTrak™ ${CS}`, {
      Quality: 'strange',
      Rarity: 'Rarity_Legendary_Weapon',
      Exterior: 'WearCategory2',
    }),
    ['rarity-5', 'WearCategory2', true],
  ],
  [
    'cs: a souvenir',
    'cs',
    item('Souvenir P90', {
      Quality: 'tournament',
      Rarity: 'Rarity_Uncommon_Weapon',
      Exterior: 'WearCategory1',
    }),
    ['rarity-2', 'WearCategory1', false],
  ],
  [
    'cs: contraband',
    'cs',
    item('Howl', { Quality: 'normal', Rarity: 'Rarity_Contraband', Exterior: 'WearCategory0' }),
    ['rarity-7', 'WearCategory0', false],
  ],
  [
    'cs: a knife',
    'cs',
    item('★ Karambit', { Quality: 'unusual', Rarity: 'Rarity_Ancient_Weapon', Exterior: 'WearCategory4' }),
    ['rarity-7', 'WearCategory4', false],
  ],
  [
    'cs: a StatTrak knife',
    'cs',
    item('★ StatTrak™ Bowie Knife', {
      Quality: 'unusual_strange',
      Rarity: 'Rarity_Ancient_Weapon',
      Exterior: 'WearCategory3',
    }),
    ['rarity-7', 'WearCategory3', true],
  ],
  [
    'cs: a knife without paint',
    'cs',
    item('★ Navaja Knife', {
      Quality: 'unusual',
      Rarity: 'Rarity_Ancient_Weapon',
      Exterior: 'WearCategoryNA',
    }),
    ['rarity-7', null, false],
  ],
  [
    'cs: a case',
    'cs',
    item('Revolution Case', { Quality: 'normal', Rarity: 'Rarity_Common' }),
    ['rarity-1', null, false],
  ],
  [
    'cs: a sticker named like a wear',
    'cs',
    item('Sticker | Battle Scarred', { Quality: 'normal', Rarity: 'Rarity_Rare' }),
    ['rarity-3', null, false],
  ],
  [
    'cs: an agent',
    'cs',
    item('Special Agent Ava | FBI', { Quality: 'normal', Rarity: 'Rarity_Ancient_Character' }),
    ['rarity-6', null, false],
  ],
  ['cs: StatTrak recognised only by the name', 'cs', item(`★ StatTrak™ Knife`, {}), ['rarity-0', null, true]],
  [
    'cs: a name tag that lies',
    'cs',
    item('StatTrak™ mine', { Quality: 'normal' }, CS),
    ['rarity-0', null, false],
  ],
  [
    'dota: an arcana',
    'dota',
    item('Demon Eater', { Quality: 'unique', Rarity: 'Rarity_Arcana' }),
    ['rarity-7', null, false],
  ],
  [
    'dota: an immortal',
    'dota',
    item('Mace of Aeons', { Quality: 'strange', Rarity: 'Rarity_Immortal' }),
    ['rarity-7', null, false],
  ],
  ['dota: seasonal', 'dota', item('Hat', { Rarity: 'Rarity_Seasonal' }), ['rarity-2', null, false]],
  ['dota: without rarity', 'dota', item('Gem', { Quality: 'base' }), ['rarity-0', null, false]],
  ['tf: unique', 'tf', item('Key', { Quality: 'Unique' }), ['rarity-1', null, false]],
  [
    'tf: unusual wins over its grade',
    'tf',
    item('Unusual Hat', { Quality: 'rarity4', Rarity: 'Rarity_Rare' }),
    ['rarity-7', null, false],
  ],
  ['tf: genuine', 'tf', item('Genuine Lugermorph', { Quality: 'rarity1' }), ['rarity-2', null, false]],
  [
    'tf: strange is not StatTrak',
    'tf',
    item('Strange Knife', { Quality: 'strange' }),
    ['rarity-3', null, false],
  ],
  ['tf: haunted', 'tf', item('Haunted Soul', { Quality: 'haunted' }), ['rarity-4', null, false]],
  ["tf: collector's", 'tf', item('Collector', { Quality: 'collectors' }), ['rarity-5', null, false]],
  ['tf: community', 'tf', item('Community', { Quality: 'community' }), ['rarity-6', null, false]],
  [
    'tf: a painted weapon by its grade',
    'tf',
    item('Night Owl', {
      Quality: 'paintkitweapon',
      Rarity: 'Rarity_Uncommon',
      Exterior: 'TFUI_InvTooltip_BattleScared',
    }),
    ['rarity-2', 'WearCategory4', false],
  ],
  [
    'rust: no rarity, no wear',
    'rust',
    item('Big Grin', { itemclass: 'metal.facemask', steamcat: 'steamcat.clothing' }),
    ['rarity-0', null, false],
  ],
]

describe('A-043 items', () => {
  test.each(ROWS)(
    'have their name, rarity, wear and StatTrak: %s',
    (_what, game, described, [rarity, wearCategory, isStatTrak]) => {
      const { name } = described
      expect(itemFacts(described, game)).toMatchObject({ name, rarity, wearCategory, isStatTrak })
    },
  )

  test.each([
    'constructor',
    '__proto__',
    'toString',
    'Rarity_',
    'Rarity_Commonplace',
    '',
    'WearCategory9',
    'x'.repeat(10_000),
  ])('get no rarity, wear or StatTrak from an unknown tag: %j', (tag) => {
    for (const game of GAMES) {
      const odd = item('Odd', { Rarity: tag, Quality: tag, Exterior: tag })
      expect(itemFacts(odd, game)).toMatchObject({
        name: 'Odd',
        rarity: 'rarity-0',
        wearCategory: null,
        isStatTrak: false,
      })
    }
  })

  test.each<[string, Game, Record<string, string>, string | null]>([
    [
      'cs: by its rarity',
      'cs',
      { Quality: 'strange', Rarity: 'Rarity_Legendary_Weapon' },
      'Rarity: Rarity_Legendary_Weapon',
    ],
    [
      'cs: a knife by its rarity too',
      'cs',
      { Quality: 'unusual', Rarity: 'Rarity_Ancient' },
      'Rarity: Rarity_Ancient',
    ],
    ['cs: a new rarity', 'cs', { Rarity: 'Rarity_Mythic9' }, 'Rarity: Rarity_Mythic9'],
    ['cs: without rarity', 'cs', { Quality: 'normal' }, null],
    [
      'dota: by its rarity',
      'dota',
      { Quality: 'strange', Rarity: 'Rarity_Immortal' },
      'Rarity: Rarity_Immortal',
    ],
    ['tf: by its quality', 'tf', { Quality: 'strange' }, 'Quality: strange'],
    [
      'tf: painted by its grade',
      'tf',
      { Quality: 'paintkitweapon', Rarity: 'Rarity_Rare' },
      'Rarity: Rarity_Rare',
    ],
    ['tf: unusual by its quality', 'tf', { Quality: 'rarity4', Rarity: 'Rarity_Rare' }, 'Quality: rarity4'],
    ['rust: none', 'rust', { Quality: 'any', Rarity: 'Rarity_Rare' }, null],
  ])('have Steam’s word for their grade as `rarityName`: %s', (_, game, tags, word) => {
    expect(itemFacts(item('Thing', tags), game).rarityName).toBe(word)
  })

  test('without a name of their own show their market name', () => {
    expect(itemFacts(item('', {}, 'Big Grin'), 'rust').name).toBe('Big Grin')
  })
})

const DOPPLER = '★ Karambit | Doppler (Factory New)'

describe('the phase of a Doppler', () => {
  test.each([
    [415, 'ruby'],
    [619, 'sapphire'],
    [417, 'blackPearl'],
    [853, 'phase2'],
    [572, 'phase4'],
    [568, 'emerald'],
  ])('for paint %i is %s, on any weapon', (paintIndex, phase) => {
    for (const marketHashName of [DOPPLER, 'Glock-18 | Gamma Doppler (Minimal Wear)', '★ Bayonet | Doppler'])
      expect(phaseOf({ marketHashName, paintIndex }, 'cs')).toBe(phase)
    const described = { ...item('Кинжал', {}, DOPPLER), paintIndex }
    expect(itemFacts(described, 'cs')).toMatchObject({ name: 'Кинжал', phase })
  })

  test.each<[string, Game, string, number | null]>([
    ['no paint is named', 'cs', DOPPLER, null],
    ['the paint is not one of a Doppler', 'cs', DOPPLER, 38],
    ['the weapon is not a Doppler', 'cs', '★ Karambit | Fade (Factory New)', 415],
    ['the name only contains the word', 'cs', 'Sticker | Dopplerganger', 415],
    ['the game is not CS', 'tf', DOPPLER, 415],
  ])('is absent if %s', (_, game, marketHashName, paintIndex) => {
    expect(itemFacts({ ...item(DOPPLER, {}, marketHashName), paintIndex }, game)).not.toHaveProperty('phase')
  })
})
