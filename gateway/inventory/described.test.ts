import { describe, expect, test } from 'vitest'
import { GAME_FACTS, type Game } from '../../contract/games.ts'
import { parsePartnerPage } from '../steam/parse.ts'
import { description, tag } from '../testing/steam-page.ts'
import { offeredOf } from './offered.ts'

const NOW = new Date('2026-04-10T12:00:00Z')
const PRICE = { kind: 'priced', price: 100n, gross: 125n } as const

/** Returns what the shopper sees of an item with this description. `owned`: more fields of its row among the assets. */
function offeredFrom(game: Game, described: object, owned: object = {}) {
  const page = parsePartnerPage({
    success: true,
    rgInventory: { '9': { id: '9', classid: '310', instanceid: '0', amount: '1', ...owned } },
    rgDescriptions: { '310_0': described },
  })
  const prices = { priceOf: () => PRICE, priceOfPhase: (pricedAs: string) => ({ price: PRICE, pricedAs }) }
  const circumstances = { game, prices, taken: new Set<string>(), imageBase: 'https://img.test', now: NOW }
  return offeredOf(page?.items ?? [], circumstances)
}

type Facts = [name: string, rarity: string, wear: string | null, isStatTrak: boolean]
type Row = [what: string, game: Game, described: object, facts: Facts]

const cs = (name: string, tags: ReturnType<typeof tag>[], more: Record<string, unknown> = {}) =>
  description({ name, market_name: name, market_hash_name: name, tags, ...more })
const quality = (internal: string) => tag('Quality', internal, 'any')
const rarity = (internal: string) => tag('Rarity', internal, 'any')
const exterior = (internal: string) => tag('Exterior', internal, 'any')

const html = (value: string) => ({ type: 'html', value })
const inGame = (appid: number, name: string, more: Record<string, unknown>) =>
  description({ appid, name, market_name: name, market_hash_name: name, descriptions: [], ...more })

const ROWS: Row[] = [
  ['a gun with stickers', 'cs', description(), ['AK-47 | Redline', 'rarity-5', 'WearCategory2', false]],
  [
    'the same gun in Russian: only the name differs, because the tags decide the rest',
    'cs',
    description({
      name: 'AK-47 | Красная линия',
      market_name: 'AK-47 | Красная линия (После полевых испытаний)',
      type: 'Засекреченное Винтовка',
      tags: [
        { ...tag('Quality', 'normal', 'Обычный'), localized_category_name: 'Категория' },
        { ...tag('Rarity', 'Rarity_Legendary_Weapon', 'Засекреченное'), localized_category_name: 'Качество' },
        { ...tag('Exterior', 'WearCategory2', 'После полевых испытаний'), localized_category_name: 'Износ' },
      ],
    }),
    ['AK-47 | Красная линия', 'rarity-5', 'WearCategory2', false],
  ],
  [
    'a gun with a name tag, which Steam sends apart from its name',
    'cs',
    description({ fraudwarnings: ["Name Tag: ''StatTrak™ ★ Howl''"] }),
    ['AK-47 | Redline', 'rarity-5', 'WearCategory2', false],
  ],
  [
    'StatTrak',
    'cs',
    cs('StatTrak™ M4A1-S | Decimator', [
      quality('strange'),
      rarity('Rarity_Legendary_Weapon'),
      exterior('WearCategory2'),
    ]),
    ['StatTrak™ M4A1-S | Decimator', 'rarity-5', 'WearCategory2', true],
  ],
  [
    'a souvenir with its four golden stickers',
    'cs',
    cs(
      'Souvenir AWP | Safari Mesh',
      [quality('tournament'), rarity('Rarity_Uncommon_Weapon'), exterior('WearCategory3')],
      {
        descriptions: [
          html(
            '<br><div id="sticker_info"><center><img src="x"><img src="x">Sticker: ESL (Gold)</center></div>',
          ),
        ],
      },
    ),
    ['Souvenir AWP | Safari Mesh', 'rarity-2', 'WearCategory3', false],
  ],
  [
    'a knife without paint',
    'cs',
    cs('★ StatTrak™ Bowie Knife', [
      quality('unusual_strange'),
      rarity('Rarity_Ancient_Weapon'),
      exterior('WearCategoryNA'),
    ]),
    ['★ StatTrak™ Bowie Knife', 'rarity-7', null, true],
  ],
  [
    'gloves',
    'cs',
    cs('★ Driver Gloves | Crimson Weave', [
      tag('Type', 'Type_Hands', 'Gloves'),
      quality('unusual'),
      rarity('Rarity_Ancient'),
      exterior('WearCategory4'),
    ]),
    ['★ Driver Gloves | Crimson Weave', 'rarity-7', 'WearCategory4', false],
  ],
  [
    'an agent',
    'cs',
    cs('Sir Bloody Miami Darryl | The Professionals', [
      tag('Type', 'Type_CustomPlayer', 'Agent'),
      quality('normal'),
      rarity('Rarity_Ancient_Character'),
    ]),
    ['Sir Bloody Miami Darryl | The Professionals', 'rarity-6', null, false],
  ],
  [
    'a charm of a new quality',
    'cs',
    cs('Souvenir Charm | Austin 2025 Highlight', [quality('highlight'), rarity('Rarity_Mythical')]),
    ['Souvenir Charm | Austin 2025 Highlight', 'rarity-4', null, false],
  ],
  [
    'contraband',
    'cs',
    cs('M4A4 | Howl', [quality('normal'), rarity('Rarity_Contraband_Weapon'), exterior('WearCategory1')]),
    ['M4A4 | Howl', 'rarity-7', 'WearCategory1', false],
  ],
  [
    'Dota: an inscribed immortal with gems',
    'dota',
    inGame(570, 'Inscribed Golden Gravelmaw', {
      descriptions: [
        html(
          '<div style="border:1px solid"><img src="gem.png"><span>Kills: 1204</span><br>Inscribed Gem</div>',
        ),
      ],
      tags: [
        quality('strange'),
        rarity('Rarity_Immortal'),
        tag('Slot', 'weapon', 'Weapon'),
        tag('Hero', 'npc_dota_hero_axe', 'Axe'),
      ],
    }),
    ['Inscribed Golden Gravelmaw', 'rarity-7', null, false],
  ],
  [
    'Dota: a seasonal treasure',
    'dota',
    inGame(570, 'Treasure of the Crimson Witness', { tags: [quality('unique'), rarity('Rarity_Seasonal')] }),
    ['Treasure of the Crimson Witness', 'rarity-2', null, false],
  ],
  [
    'TF2: a renamed hat shows the name that its owner gave it',
    'tf',
    inGame(440, "''Free <b>money</b>''", {
      market_hash_name: 'Strange Team Captain',
      tags: [quality('strange')],
    }),
    ["''Free <b>money</b>''", 'rarity-3', null, false],
  ],
  [
    'TF2: a counter in brackets, or a note that the owner of the item wrote, does not count as Not Usable in Crafting',
    'tf',
    inGame(440, 'Strange Medi Gun', {
      descriptions: [html('(Kills: 12)'), html("''( Not Usable in Crafting )''")],
      tags: [quality('strange')],
    }),
    ['Strange Medi Gun', 'rarity-3', null, false],
  ],
  [
    'Dota: a note in brackets does not affect the price',
    'dota',
    inGame(570, 'Dragonclaw Hook', { descriptions: [html('( Not Tradable until later )')], tags: [] }),
    ['Dragonclaw Hook', 'rarity-0', null, false],
  ],
  [
    'TF2: a decorated weapon has a grade and a wear',
    'tf',
    inGame(440, 'Night Owl Sniper Rifle', {
      tags: [quality('paintkitweapon'), rarity('Rarity_Legendary'), exterior('TFUI_InvTooltip_FieldTested')],
    }),
    ['Night Owl Sniper Rifle', 'rarity-5', 'WearCategory2', false],
  ],
  [
    'TF2: an ordinary key',
    'tf',
    inGame(440, 'Mann Co. Supply Crate Key', { tags: [quality('Unique'), tag('Type', 'TF_T', 'Tool')] }),
    ['Mann Co. Supply Crate Key', 'rarity-1', null, false],
  ],
  [
    'Rust: only tags without a meaning here',
    'rust',
    inGame(252490, 'Blackout Hoodie', {
      name_color: 'a7ec2e',
      tags: [tag('steamcat', 'steamcat.clothing', 'Clothing')],
    }),
    ['Blackout Hoodie', 'rarity-0', null, false],
  ],
  [
    'Rust: no tags at all',
    'rust',
    inGame(252490, 'Whiteout Facemask', { tags: [] }),
    ['Whiteout Facemask', 'rarity-0', null, false],
  ],
  [
    'unknown tags',
    'cs',
    cs('AK-47 | Of Tomorrow', [quality('holographic'), rarity('Rarity_Mythic9'), exterior('WearCategory7')]),
    ['AK-47 | Of Tomorrow', 'rarity-0', null, false],
  ],
]

const isWord = (word: unknown) => word === null || typeof word === 'string'

describe('A-043 items with Steam’s descriptions', () => {
  test.each([
    ['from the field that the page of an offer has', { name: 'Засекреченное' }, 'Засекреченное'],
    ['from the field that the public page has', { localized_tag_name: 'Засекреченное' }, 'Засекреченное'],
    [
      'without characters that would change the line around it',
      { name: ' Class\u202eified\u0000 ' },
      'Classified',
    ],
    ['unless it is too long', { name: 'x'.repeat(41) }, null],
    ['unless it is empty', { localized_tag_name: '', name: '' }, null],
    ['unless Steam sends none', {}, null],
  ])('have the rarity in the game’s own word, %s', (_, words, word) => {
    const grade = { ...tag('Rarity', 'Rarity_Legendary_Weapon', ''), ...words }
    expect(offeredFrom('cs', description({ tags: [grade] })).shown[0]?.rarityName).toBe(word)
  })

  test.each(ROWS)(
    'are shown with the fields of their description: %s',
    (_what, game, described, [name, level, wearCategory, isStatTrak]) => {
      const iconUrl = `https://img.test/economy/image/class/${GAME_FACTS[game].appId}/310/100fx100f`
      expect(offeredFrom(game, described).shown).toEqual([
        {
          id: '9',
          name,
          rarity: level,
          rarityName: expect.toSatisfy(isWord),
          wearCategory,
          isStatTrak,
          iconUrl,
          price: 100,
        },
      ])
    },
  )

  test('are refused if they are a stack, because a part of a stack would reach the bot under another id', () => {
    expect(offeredFrom('rust', inGame(252490, 'Cloth', {}), { amount: '250' })).toMatchObject({
      shown: [],
      unavailableByReason: { stack: 1 },
    })
  })

  test('have a reason if they are untradable and, if that is a trade hold, the time at which it ends', () => {
    const held = {
      tradable: 0,
      owner_descriptions: [html('Tradable After Apr 13, 2026 (7:00:00) GMT')],
    }
    expect(offeredFrom('cs', cs('AK-47 | Redline', [], held))).toMatchObject({
      shown: [],
      unavailableItems: 1,
      unavailableByReason: { tradeHold: 1 },
      restrictedUntil: ['2026-04-13T07:00:00.000Z'],
    })
    const reasonsOf = (more: object) =>
      offeredFrom('cs', cs('AK-47 | Redline', [], { tradable: 0, ...more })).unavailableByReason
    expect(reasonsOf({ sealed: 1, sealed_type: 0 })).toEqual({ tradeProtected: 1 })
    expect(reasonsOf({})).toEqual({ notTradable: 1 })
    expect(reasonsOf({ tags: {}, name: 7 })).toEqual({ unknownItem: 1 })
  })

  describe('D-13 D-14 an item of the inventory', () => {
    const reasonsOf = (game: Game, described: object) => offeredFrom(game, described).unavailableByReason
    const ends = (date: string) => ({ owner_descriptions: [html(`Marketable After ${date}`)] })

    test.each([
      ['`marketable` is 0', { marketable: 0 }],
      ['`marketable` is missing', { marketable: undefined }],
      ['`marketable` is not a number', { marketable: 'constructor' }],
      [
        'Steam gives no end of the restriction, although the item’s kind can have a temporary one',
        { marketable: 0, item_expiration: undefined },
      ],
      ['the end of the restriction has passed', { marketable: 0, ...ends('Apr 10, 2026 (7:00:00) GMT') }],
      [
        'Steam’s lines about the restriction have no date',
        { marketable: 0, owner_descriptions: [html('A gift'), 7] },
      ],
    ])('is refused if %s', (_, fields) => {
      expect(reasonsOf('cs', cs('AK-47 | Redline', [], fields))).toEqual({ notMarketable: 1 })
    })

    test('is accepted if the market’s restriction is temporary', () => {
      const stillRestricted = { marketable: 0, ...ends('Apr 13, 2026 (7:00:00) GMT') }
      expect(offeredFrom('cs', cs('AK-47 | Redline', [], stillRestricted)).shown).toHaveLength(1)
      const inRussian = {
        ...stillRestricted,
        owner_descriptions: [html('Можно продать 13 апр. 2026 г. (7:00:00) GMT')],
      }
      expect(offeredFrom('cs', cs('AK-47 | Redline', [], inRussian)).shown).toHaveLength(1)
      // Team Fortress has no temporary restrictions: a date there means something else.
      const neverTemporary = { ...stillRestricted, market_marketable_restriction: 0 }
      expect(reasonsOf('tf', inGame(440, 'Team Captain', neverTemporary))).toEqual({ notMarketable: 1 })
    })

    test.each([
      ['in English', '( Not Usable in Crafting )'],
      ['in another language', '( Нельзя использовать при ковке )'],
    ])('has no price of its own if TF2 marks it as uncraftable, %s', (_, note) => {
      const otherLines = Array.from({ length: 40 }, (__, index) => html(`Hat ${index}`))
      const hat = inGame(440, 'Team Captain', { descriptions: [...otherLines, html(' '), html(note)] })
      expect(reasonsOf('tf', hat)).toEqual({ noOwnPrice: 1 })
      expect(reasonsOf('tf', { ...hat, marketable: 0 })).toEqual({ notMarketable: 1 })
    })

    test.each([
      ['by its quality', { tags: [quality('rarity4')], market_hash_name: 'Killer Exclusive' }],
      [
        'by "Unusual" at the start of its name',
        { tags: [quality('paintkitweapon')], market_hash_name: 'Unusual Night Owl' },
      ],
      [
        'by "Unusual" after "Strange" in its name',
        { tags: [quality('strange')], market_hash_name: 'Strange Unusual Team Captain' },
      ],
    ])('has no price of its own if it is a TF2 item with an unusual effect, recognised %s', (_, fields) => {
      expect(reasonsOf('tf', inGame(440, 'A hat', fields))).toEqual({ noOwnPrice: 1 })
      expect(reasonsOf('cs', inGame(730, 'A hat', fields))).toEqual({})
    })

    test('is refused as not tradable if it is neither tradable nor marketable', () => {
      expect(reasonsOf('cs', cs('Medal', [], { tradable: 0, marketable: 0 }))).toEqual({ notTradable: 1 })
    })
  })

  test('are priced by the market name, which is the same in every language', () => {
    const askedNames: string[] = []
    const items = parsePartnerPage({
      success: true,
      rgInventory: { '9': { id: '9', classid: '310', instanceid: '0' } },
      rgDescriptions: { '310_0': description({ name: 'Красная линия' }) },
    })
    const priceOf = (name: string) => {
      askedNames.push(name)
      return PRICE
    }
    const prices = { priceOf, priceOfPhase: (pricedAs: string) => ({ price: priceOf(pricedAs), pricedAs }) }
    offeredOf(items?.items ?? [], { game: 'cs', prices, taken: new Set(), imageBase: '', now: NOW })
    expect(askedNames).toEqual(['AK-47 | Redline (Field-Tested)'])
  })
})
