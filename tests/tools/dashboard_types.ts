// SPDX-License-Identifier: Apache-2.0
// What a dashboard of graced may hold, by Grafana's published types: test_dashboard.sh adds the
// dashboard as a value of type Whole. Grafana's own type of a panel leaves options, fields and queries
// open; here they are those of the panel's type.
import type { AnnotationQuery, Dashboard, Panel, RowPanel } from '@grafana/schema';
import type { Options as Stat } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type { Options as Table, FieldConfig as TableField }
	from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type { Options as Series, FieldConfig as SeriesField }
	from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type { PrometheusDataQuery } from './queries/PrometheusDataQuery_types.gen';

// In JSON a value of an enumeration is its text.
type Plain<T> = T extends string ? `${T}`
	: T extends (infer U)[] ? Plain<U>[]
	: T extends object ? { [K in keyof T]: Plain<T[K]> }
	: T;

type Fields<Custom> = {
	defaults: Plain<Omit<NonNullable<Panel['fieldConfig']>['defaults'], 'custom'>> & { custom?: Partial<Plain<Custom>> };
	overrides: Plain<NonNullable<Panel['fieldConfig']>['overrides']>;
};
type Source = { type: 'prometheus'; uid: '${datasource}' };
type Shown<Type, Options, Custom> = Plain<Omit<Panel, 'type' | 'options' | 'fieldConfig' | 'targets' | 'datasource'>> & {
	type: Type;
	options?: Partial<Plain<Options>>;
	fieldConfig?: Fields<Custom>;
	datasource: Source;
	targets: (Plain<Omit<PrometheusDataQuery, 'datasource'>> & { datasource: Source })[];
};
type Any = Shown<'stat', Stat, {}> | Shown<'table', Table, TableField> | Shown<'timeseries', Series, SeriesField>;

// Prometheus' queries of marks have fields of their own, which no package describes.
type Mark = Plain<Omit<AnnotationQuery, 'target' | 'datasource'>> & {
	datasource: Source;
	expr: string;
	step: string;
	titleFormat: string;
	textFormat: string;
	tagKeys: string;
	useValueForTime: boolean;
};

export type Whole = Plain<Omit<Dashboard, 'panels' | 'annotations'>> & {
	annotations: { list: Mark[] };
	panels: (Any | Plain<Omit<RowPanel, 'panels'>> & { panels: Any[] })[];
};
