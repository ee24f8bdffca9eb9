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

/** Equal items in one row. `assetIds` is empty, and `iconUrl` null, in rows made from the server's list of an offer. */
export type ItemRow = Pick<Item, 'name' | 'price' | 'wearCategory' | 'phase'> & {
  /** Different for each row of a list. */
  key: string
  assetIds: readonly string[]
  count: number
  iconUrl: string | null
  rarity: Item['rarity'] | null
  rarityName: string | null
}

export const rowsOf = (items: readonly Item[]): ItemRow[] =>
  pickedStacks(items).map(({ item, ids }) => ({
    ...item,
    key: ids[0] ?? '',
    assetIds: ids,
    count: ids.length,
  }))

/** Returns the items of an offer as rows. The server lists no asset ids or pictures, and the wear only in the name. */
export const offeredRowsOf = (items: NonNullable<Payment['items']>): ItemRow[] =>
  items.map((item, index) => ({
    ...item,
    key: String(index),
    assetIds: [],
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
  /** Puts the item back that has this asset id. Without it, no row has a button. */
  onRemove?: ((assetId: string) => void) | undefined
}

/**
 * A list of more rows than this scrolls. If they have no buttons, the keyboard must be able to reach the list itself.
 */
const MOST_AT_ONCE = 3

export function ItemRows({ rows, currency, label, onRemove }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const noteRemoval = useFocusKept(list, rows)
  const needsTabStop = rows.length > MOST_AT_ONCE && onRemove === undefined
  return (
    <ul ref={list} className="item-rows" aria-label={label} {...(needsTabStop && { tabIndex: 0 })}>
      {rows.map((row, index) => {
        const lastId = row.assetIds.at(-1)
        const remove = () => {
          noteRemoval(index)
          if (lastId !== undefined) onRemove?.(lastId)
        }
        return (
          <li key={row.key} className="item-row">
            <Row row={row} currency={currency} onRemove={onRemove && remove} />
          </li>
        )
      })}
    </ul>
  )
}

type RowProps = { row: ItemRow; currency: Currency; onRemove: (() => void) | undefined }

function Row({ row, currency, onRemove }: RowProps) {
  const { texts, money } = useItemTexts()
  const { count, iconUrl, rarity } = row
  const name = nameWithPhase(withoutWear(row), row.phase ? texts.phases[row.phase] : null)
  const wear = row.wearCategory === null ? null : texts.wear[row.wearCategory].word
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
