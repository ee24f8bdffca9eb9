/** The items of a payment: those that are picked, and those that an offer takes. */
import './items.css'
import { type RefObject, useEffect, useRef } from 'react'
import { nameWithPhase } from '../../contract/item-name.ts'
import type { Currency } from '../../contract/money.ts'
import type { Item, Payment } from '../../contract/widget-api.ts'
import { pickedStacks } from '../flow/stacks.ts'
import { itemTexts } from '../i18n/items.ts'
import { CloseIcon } from '../ui/icons.tsx'
import { Picture } from '../ui/picture.tsx'
import { withoutWear } from './item-name.ts'
import { pageWith } from './texts.ts'

/** Equal items in one row. `iconUrl` is null if only their name is known. `ids` are asset ids. */
export type ItemRow = Pick<Item, 'name' | 'price' | 'wearCategory' | 'phase'> & {
  ids: readonly string[]
  count: number
  iconUrl: string | null
  rarity: Item['rarity'] | null
  rarityName: string | null
}

/** Returns the picked items as rows. */
export const rowsOf = (items: readonly Item[]): ItemRow[] =>
  pickedStacks(items).map(({ item, ids }) => ({ ...item, ids, count: ids.length }))

/** Returns the items of an offer as rows. The server has only their names. */
export const offeredRowsOf = (items: NonNullable<Payment['items']>): ItemRow[] =>
  items.map((item, index) => ({
    ...item,
    ids: [String(index)],
    ...{ wearCategory: null, iconUrl: null, rarity: null, rarityName: null },
  }))

/** Returns each picked item as a row of its own. */
export const tilesOf = (items: readonly Item[]): ItemRow[] =>
  items.map((item) => ({ ...item, ids: [item.id], count: 1 }))

/** The texts of the page with the words for items. */
const useItems = pageWith(itemTexts)

type Props = {
  rows: readonly ItemRow[]
  currency: Currency
  /** `tiles` are pictures alone, with the name in their title. */
  look: 'tiles' | 'rows'
  /** The accessible name of the list. */
  label: string
  /** Puts one item of the row back. Without it, no row has a button. */
  onRemove?: (id: string) => void
  /** True if no item can be put back any longer. */
  isSettled?: boolean
}

/** More rows than this scroll, so the keyboard must reach the list. */
const MOST_AT_ONCE = 3

export function ItemList({ rows, currency, look, label, onRemove, isSettled = false }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const onFocusLeaves = useFocusKept(list, rows)
  const remove = (ids: readonly string[], index: number): void => {
    const last = ids.at(-1)
    if (last === undefined) return
    onFocusLeaves(index)
    onRemove?.(last)
  }
  const scrolls = look === 'rows' && rows.length > MOST_AT_ONCE && onRemove === undefined
  return (
    <ul
      ref={list}
      className={look === 'tiles' ? 'summary-items' : 'item-rows'}
      aria-label={label}
      {...(scrolls && { tabIndex: 0 })}
    >
      {rows.map((row, index) => (
        <li key={row.ids[0]} className={look === 'rows' ? 'item-row' : undefined}>
          {look === 'tiles' ? (
            <Tile row={row} isOff={isSettled} onRemove={() => remove(row.ids, index)} />
          ) : (
            <Row row={row} currency={currency} onRemove={onRemove && (() => remove(row.ids, index))} />
          )}
        </li>
      ))}
    </ul>
  )
}

/** After a row has gone, the focus moves to the next one, so a keyboard or a screen reader keeps its place. */
function useFocusKept(list: RefObject<HTMLUListElement | null>, rows: readonly ItemRow[]) {
  const removed = useRef<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the rows takes the focus away
  useEffect(() => {
    const index = removed.current
    removed.current = null
    if (index === null || list.current?.contains(document.activeElement)) return
    const buttons = list.current?.querySelectorAll('button') ?? []
    buttons[Math.min(index, buttons.length - 1)]?.focus({ preventScroll: true })
  }, [list, rows])
  return (index: number): void => {
    removed.current = index
  }
}

type TileProps = { row: ItemRow; isOff: boolean; onRemove(): void }

/** A picture. A press puts the item back. */
function Tile({ row: { name, phase, rarity, rarityName, iconUrl }, isOff, onRemove }: TileProps) {
  const { texts } = useItems()
  return (
    <button
      type="button"
      className={`summary-item ${rarity ?? ''}`}
      title={[nameWithPhase(name, phase ? texts.phases[phase] : null), rarityName].filter(Boolean).join(', ')}
      aria-label={texts.removeItem(name)}
      disabled={isOff}
      onClick={onRemove}
    >
      <Picture url={iconUrl ?? ''} size={65} />
    </button>
  )
}

type RowProps = { row: ItemRow; currency: Currency; onRemove: (() => void) | undefined }

function Row({ row, currency, onRemove }: RowProps) {
  const { texts, money } = useItems()
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
