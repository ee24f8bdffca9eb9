import './items.css'
import { useRef } from 'react'
import { nameWithPhase, wearOf } from '../../contract/item-name.ts'
import type { Currency } from '../../contract/money.ts'
import type { Item, Payment } from '../../contract/widget-api.ts'
import { pickedStacks } from '../flow/stacks.ts'
import { itemTexts } from '../i18n/items.ts'
import { useFocusKept } from '../ui/focus-kept.ts'
import { CloseIcon } from '../ui/icons.tsx'
import { Picture } from '../ui/picture.tsx'
import { withoutWear } from './item-name.ts'
import { createTextsHook } from './texts.ts'

/**
 * Equal items in one row. `ids` are asset ids. For items that only the server lists, `iconUrl` is null, and `ids`
 * contains only a key for the row.
 */
export type ItemRow = Pick<Item, 'name' | 'price' | 'wearCategory' | 'phase'> & {
  ids: readonly string[]
  count: number
  iconUrl: string | null
  rarity: Item['rarity'] | null
  rarityName: string | null
}

export const rowsOf = (items: readonly Item[]): ItemRow[] =>
  pickedStacks(items).map(({ item, ids }) => ({ ...item, ids, count: ids.length }))

/** Returns the items of an offer as rows. The server lists no asset ids or pictures, and the wear only in the name. */
export const offeredRowsOf = (items: NonNullable<Payment['items']>): ItemRow[] =>
  items.map((item, index) => ({
    ...item,
    // Only a key for the row: the asset ids are unknown.
    ids: [String(index)],
    wearCategory: wearOf(item.name)?.wear ?? null,
    iconUrl: null,
    rarity: null,
    rarityName: null,
  }))

type KeyFields = Pick<Item, 'name' | 'phase' | 'price'>

/** True if the picks are the items of an offer. Their total alone is no proof: other items can cost as much. */
export function areOffered(picked: readonly Item[], offered: NonNullable<Payment['items']>): boolean {
  const keyOf = ({ name, phase, price }: KeyFields): string => [name, phase, price].join('\n')
  const unmatched = new Map(offered.map((item) => [keyOf(item), item.count]))
  for (const item of picked) unmatched.set(keyOf(item), (unmatched.get(keyOf(item)) ?? 0) - 1)
  return [...unmatched.values()].every((count) => count === 0)
}

const useItemTexts = createTextsHook(itemTexts)

type Props = {
  rows: readonly ItemRow[]
  currency: Currency
  /** The accessible name of the list. */
  label: string
  /** Puts one item of the row back. Without it, no row has a button. */
  onRemove?: ((id: string) => void) | undefined
}

/**
 * A list of more rows than this scrolls. If they have no buttons, the keyboard must be able to reach the list itself.
 */
const MOST_AT_ONCE = 3

export function ItemRows({ rows, currency, label, onRemove }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const noteRemoval = useFocusKept(list, rows)
  const scrolls = rows.length > MOST_AT_ONCE && onRemove === undefined
  return (
    <ul ref={list} className="item-rows" aria-label={label} {...(scrolls && { tabIndex: 0 })}>
      {rows.map((row, index) => (
        <li key={row.ids[0]} className="item-row">
          <Row
            row={row}
            currency={currency}
            onRemove={
              onRemove &&
              (() => {
                noteRemoval(index)
                onRemove(row.ids.at(-1) ?? '')
              })
            }
          />
        </li>
      ))}
    </ul>
  )
}

type RowProps = { row: ItemRow; currency: Currency; onRemove: (() => void) | undefined }

function Row({ row, currency, onRemove }: RowProps) {
  const { texts, money } = useItemTexts()
  const { count, iconUrl, rarity } = row
  const name = nameWithPhase(withoutWear(row), row.phase ? texts.phases[row.phase] : null)
  const wear = row.wearCategory === null ? null : texts.wear[row.wearCategory][1]
  return (
    <>
      {iconUrl !== null && (
        <span className={`item-row-picture ${rarity ?? ''}`}>
          <Picture url={iconUrl} size={40} />
        </span>
      )}
      <span className="item-row-name">
        {name}
        {wear !== null && <span className="item-row-wear">{wear}</span>}
      </span>
      <span className="item-row-price">
        {count > 1 && `${count} × `}
        {money(row.price, currency)}
      </span>
      {onRemove !== undefined && (
        <button
          type="button"
          className="icon-button item-row-remove"
          aria-label={texts.removeItem(wear === null ? name : `${name}, ${wear}`)}
          onClick={onRemove}
        >
          <CloseIcon />
        </button>
      )}
    </>
  )
}
