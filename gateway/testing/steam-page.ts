/** Makes inventory pages of any size, in the form of Steam's partnerinventory. */
import { createHash } from 'node:crypto'

type Tag = {
  category: string
  internal_name: string
  localized_category_name?: string
  name: string
  color?: string
}

/** A description as Steam writes it: of an ordinary rifle, except for the fields that the test changes. */
export function description(change: Record<string, unknown> & { tags?: Tag[] } = {}) {
  return {
    appid: 730,
    classid: '310776834',
    instanceid: '302028390',
    currency: 0,
    background_color: '',
    icon_url:
      'i0CoZ81Ui0m-9KwlBY1L_18myuGuq1wfhWSaZgMttyVfPaERSR0Wqmu7LAocGIGz3UqlXOLrxM-vMGmW8VNxu5Dx60noTyL8ypexwjFS4_ega6F_H_OGMWrEwL9lj_F7Rienhgk1tjyIpYPwJiPTcFB2Xpp5TO5cskG9lYCxZu_jsVCL3o4Xnij23ClO5ik9tegFA_It8qHJz1aWe-uc160',
    icon_url_large: '',
    descriptions: [
      { type: 'html', value: 'Exterior: Field-Tested', name: 'exterior_wear' },
      { type: 'html', value: ' ', name: 'blank' },
      {
        type: 'html',
        value:
          'It has been painted using a carbon fiber hydrographic and a dry-transfer decal of a red pinstripe.<br><br><i>Never be afraid to push it to the limit</i>',
        name: 'description',
      },
      { type: 'html', value: ' ', name: 'blank' },
      { type: 'html', value: 'The Phoenix Collection', color: '9da1a9', name: 'itemset_name' },
      {
        type: 'html',
        value:
          '<br><div id="sticker_info" name="sticker_info" style="border: 2px solid rgb(102, 102, 102);"><center><img width=64 height=48 src="https://cdn.example/sticker.png"><br>Sticker: Titan (Holo)</center></div>',
        name: 'sticker_info',
      },
    ],
    tradable: 1,
    actions: [
      {
        link: 'steam://rungame/730/76561202255233023/+csgo_econ_action_preview%20S%owner_steamid%A%assetid%D123',
        name: 'Inspect in Game...',
      },
    ],
    name: 'AK-47 | Redline',
    name_color: 'D2D2D2',
    type: 'Classified Rifle',
    market_name: 'AK-47 | Redline (Field-Tested)',
    market_hash_name: 'AK-47 | Redline (Field-Tested)',
    market_actions: [{ link: 'steam://rungame/730/…', name: 'Inspect in Game...' }],
    commodity: 0,
    market_tradable_restriction: 7,
    market_marketable_restriction: 7,
    marketable: 1,
    tags: [
      tag('Type', 'CSGO_Type_Rifle', 'Rifle'),
      tag('Weapon', 'weapon_ak47', 'AK-47'),
      tag('ItemSet', 'set_community_2', 'The Phoenix Collection'),
      tag('Quality', 'normal', 'Normal'),
      tag('Rarity', 'Rarity_Legendary_Weapon', 'Classified'),
      tag('Exterior', 'WearCategory2', 'Field-Tested'),
    ],
    ...change,
  }
}

export function tag(category: string, internal: string, name: string): Tag {
  return { category, internal_name: internal, localized_category_name: category, name }
}

/** About this many items share one class, as in a real collector's inventory. */
const COPIES = 4
const WEARS = ['Factory New', 'Minimal Wear', 'Field-Tested', 'Well-Worn', 'Battle-Scarred']
const GUNS = [
  'AK-47',
  'M4A1-S',
  'AWP',
  'Glock-18',
  'Desert Eagle',
  'USP-S',
  'P250',
  'MAC-10',
  'FAMAS',
  'Galil AR',
]
const FINISHES = [
  'Redline',
  'Slate',
  'Asiimov',
  'Printstream',
  'Neo-Noir',
  'Safari Mesh',
  'Water Elemental',
  'Decimator',
  'Ice Coaled',
  'Night Terror',
  'Bloodsport',
  'Emphorosaur-S',
]
const RARITIES = ['Common', 'Uncommon', 'Rare', 'Mythical', 'Legendary', 'Ancient']

const isStatTrak = (kind: number): boolean => kind % 7 === 0

function hashName(kind: number): string {
  const wear = WEARS[kind % WEARS.length]
  const finish = FINISHES[Math.floor(kind / WEARS.length) % FINISHES.length]
  const gun = GUNS[Math.floor(kind / (WEARS.length * FINISHES.length)) % GUNS.length]
  const series = Math.floor(kind / (WEARS.length * FINISHES.length * GUNS.length))
  return `${isStatTrak(kind) ? 'StatTrak™ ' : ''}${gun} | ${finish}${series === 0 ? '' : ` ${series}`} (${wear})`
}

/** Returns numbers without a pattern, so ids compress as badly as Steam's. */
const hashOf = (n: number): number => createHash('sha256').update(String(n)).digest().readUIntBE(0, 6)

/** Returns a page of this many items, whose ids are spread as Steam's are, and their distinct names. */
export function inventoryPage(count: number): { page: object; names: string[] } {
  const kinds = Math.ceil(count / COPIES)
  const classOf = (kind: number) => String(310_776_834 + (hashOf(kind) % 7_000_000_000))
  const rows = Array.from({ length: count }, (_, index) => {
    const assetId = String(28_400_000_000 + index * 2_000_003 + (hashOf(index) % 2_000_000))
    // The step mixes the kinds: on a large page, neighbours differ in more than their wear.
    const classid = classOf((index * 131) % kinds)
    return [
      assetId,
      { id: assetId, classid, instanceid: '302028390', amount: '1', hide_in_china: 0, pos: index + 1 },
    ]
  })
  const descriptions = Array.from({ length: kinds }, (_, kind) => {
    const name = hashName(kind)
    const rarity = RARITIES[kind % RARITIES.length] ?? ''
    const row = description({
      classid: classOf(kind),
      name: name.replace(/ \([^)]*\)$/, ''),
      market_name: name,
      market_hash_name: name,
      tags: [
        tag('Type', 'CSGO_Type_Rifle', 'Rifle'),
        tag('Weapon', 'weapon_ak47', 'AK-47'),
        tag('Quality', isStatTrak(kind) ? 'strange' : 'normal', 'Normal'),
        tag('Rarity', `Rarity_${rarity}_Weapon`, rarity),
        tag('Exterior', `WearCategory${kind % WEARS.length}`, 'Worn'),
      ],
    })
    return [`${row.classid}_${row.instanceid}`, row]
  })
  const page = {
    success: true,
    more: false,
    more_start: false,
    rgInventory: Object.fromEntries(rows),
    rgCurrency: [],
    rgDescriptions: Object.fromEntries(descriptions),
  }
  return { page, names: Array.from({ length: kinds }, (_, kind) => hashName(kind)) }
}
