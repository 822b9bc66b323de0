//! Tool declarations: functions, namespaces, custom tools, and searches with the tools that they found.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::conversation::{Tool as OutTool, ToolKind};
use crate::json::{Json, Object, Style};
use crate::protocol::tools::{Declaration, check_name, custom_parameters, declare_custom};
use crate::protocol::{Context, ErrorKind, RequestError, WarningKind};

use super::{Function, Input, Item, Namespace, NamespaceTool, Tool, ToolSearch, WebSearch};

/// The custom tool that models are trained with.
const APPLY_PATCH: &str = "apply_patch";
/// The function that stands for a search for tools.
pub(super) const TOOL_SEARCH: &str = "tool_search";
const APPLY_PATCH_INPUT: &str =
    "The entire contents of the apply_patch command (the *** Begin Patch ... *** End Patch envelope).";

/// The tools of a request after their names are checked: namespaces are flattened, and the tools that searches
/// found are declared too, as deferred ones.
pub(super) struct Declared {
    pub(super) tools: Vec<Declaration>,
    /// The tools that the search output at an input index found.
    pub(super) found: HashMap<usize, Vec<OutTool>>,
    /// The function name of each namespace's function. Where a namespace is declared twice, the first counts.
    qualified: HashMap<(String, String), String>,
    names: Names,
}

/// Function names of namespaced calls whose tools are not declared.
pub(super) struct EarlierNames {
    by_place: HashMap<(String, String), String>,
    names: Names,
}

/// Which function names are taken, and how names are joined.
#[derive(Clone)]
struct Names {
    taken: HashSet<String>,
    /// The first number to try behind a name that is taken: those below are taken too.
    next: HashMap<String, u64>,
    qualified_names: bool,
}

impl Names {
    /// A function name for `name` inside `namespace` that was free, and is taken from now on.
    fn take(&mut self, namespace: &str, name: &str) -> String {
        let base = if self.qualified_names {
            format!("{namespace}::{name}")
        } else if namespace.ends_with('_') || name.starts_with('_') {
            format!("{namespace}{name}")
        } else {
            format!("{namespace}__{name}")
        };
        if self.taken.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(1);
        loop {
            let numbered = format!("{base}_{next}");
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

impl Declared {
    pub(super) fn read(
        context: &mut Context<'_>,
        tools: Vec<Tool>,
        input: Option<&Input>,
    ) -> Result<Self, RequestError> {
        let capabilities = context.profile.capabilities();
        let mut groups = vec![(None, tools)];
        if capabilities.mid_conversation_system
            && let Some(Input::List(items)) = input
        {
            groups.extend(items.iter().enumerate().filter_map(|(index, item)| match item {
                Item::ToolSearchOutput(output) => Some((Some(index), output.tools.clone())),
                _ => None,
            }));
        }
        let functions = groups.iter().flat_map(|(_, tools)| tools).filter_map(|tool| match tool {
            Tool::Function(function) => Some(function.name.clone()),
            _ => None,
        });
        let names = Names {
            taken: functions.collect(),
            next: HashMap::new(),
            qualified_names: capabilities.qualified_names,
        };
        let mut declared =
            Self { tools: Vec::new(), found: HashMap::new(), qualified: HashMap::new(), names };
        for (item, tools) in groups {
            let start = declared.tools.len();
            let parent = item.map_or_else(String::new, |index| format!("input[{index}]."));
            for (index, tool) in tools.into_iter().enumerate() {
                declared.declare(context, tool, &format!("{parent}tools[{index}]"), item.is_some())?;
            }
            if let Some(item) = item {
                let found = declared.tools[start..].iter_mut().map(|tool| {
                    tool.deferred = true;
                    tool.as_declared()
                });
                declared.found.insert(item, found.collect());
            }
        }
        Ok(declared)
    }

    fn declare(
        &mut self,
        context: &mut Context<'_>,
        tool: Tool,
        path: &str,
        was_found: bool,
    ) -> Result<(), RequestError> {
        match tool {
            Tool::Function(function) => {
                check_name(&function.name, path)?;
                self.tools.push(declare_function(function, ToolKind::Function, path));
            }
            Tool::Namespace(namespace) => self.declare_namespace(context, namespace, path)?,
            Tool::Custom(tool) if tool.name == APPLY_PATCH => self.tools.push(Declaration {
                name: tool.name,
                description: Some(context.profile.apply_patch_description().to_owned()),
                parameters: Some(custom_parameters(APPLY_PATCH_INPUT)),
                strict: None,
                deferred: false,
                kind: ToolKind::Custom,
                path: path.to_owned(),
            }),
            Tool::Custom(tool) => {
                let note = "a custom tool becomes a function with one string";
                context.accept(WarningKind::CustomTool, path, note, || {
                    let message =
                        format!("Unsupported custom tool: '{}'. Only 'apply_patch' is supported.", tool.name);
                    RequestError::new(ErrorKind::Tool, path, message)
                })?;
                self.tools.push(declare_custom(tool.name, tool.description, tool.format, path.to_owned())?);
            }
            Tool::ToolSearch(search) => {
                let is_client = search.execution.as_deref() == Some("client");
                if is_client && context.profile.capabilities().mid_conversation_system {
                    self.tools.push(declare_search(search, path));
                } else if !was_found {
                    context.note(WarningKind::DroppedTool, path, "the search for tools is left out");
                }
            }
            Tool::WebSearch { .. } => {
                context.note(WarningKind::DroppedTool, path, "web search runs at the vendor: it is left out");
            }
            Tool::Unknown(kind) => {
                let message = format!("a tool of type `{kind}` cannot be offered: it is left out");
                context.note(WarningKind::DroppedTool, path, message);
            }
        }
        Ok(())
    }

    fn declare_namespace(
        &mut self,
        context: &mut Context<'_>,
        namespace: Namespace,
        path: &str,
    ) -> Result<(), RequestError> {
        let Namespace { name: namespace, description, tools } = namespace;
        check_name(&namespace, path)?;
        let shown_description = description
            .filter(|description| context.profile.capabilities().qualified_names && !description.is_empty());
        let mut inner_names = HashSet::new();
        for (index, tool) in tools.into_iter().enumerate() {
            let path = format!("{path}.tools[{index}]");
            let mut declaration = match tool {
                NamespaceTool::Function(function) => {
                    check_name(&function.name, &path)?;
                    declare_function(function, ToolKind::Function, &path)
                }
                NamespaceTool::Custom(tool) => {
                    let note = "a custom tool becomes a function with one string";
                    context.accept(WarningKind::CustomTool, &path, note, || {
                        let message = format!(
                            "Currently custom tools are not allowed inside a namespace. Found custom tool '{}' in {path}.",
                            tool.name
                        );
                        RequestError::new(ErrorKind::Tool, &path, message)
                    })?;
                    declare_custom(tool.name, tool.description, tool.format, path.clone())?
                }
                NamespaceTool::Unknown(kind) => {
                    let problem = format!("unknown tool type `{kind}`, expected `function` or `custom`");
                    let note = format!("a tool of type `{kind}` cannot be offered: it is left out");
                    context.accept(WarningKind::DroppedTool, &path, note, || {
                        RequestError::wrong_type(format!("{path}.type"), problem)
                    })?;
                    continue;
                }
            };
            let name = declaration.name;
            if !inner_names.insert(name.clone()) {
                let message = "Tool names within a namespace must be unique.";
                return Err(RequestError::new(ErrorKind::Tool, path, message));
            }
            if let Some(shown) = &shown_description {
                let own = declaration.description.unwrap_or_default();
                declaration.description = Some(format!("{shown}\n{own}"));
            }
            declaration.name = self.names.take(&namespace, &name);
            self.qualified
                .entry((namespace.clone(), name.clone()))
                .or_insert_with(|| declaration.name.clone());
            declaration.kind = ToolKind::Namespaced { namespace: namespace.clone(), name };
            self.tools.push(declaration);
        }
        Ok(())
    }

    /// No names of undeclared tools yet.
    pub(super) fn earlier_names(&self) -> EarlierNames {
        EarlierNames { by_place: HashMap::new(), names: self.names.clone() }
    }

    /// The function name for a call of `name` inside `namespace`. Names that are not declared get one of their own,
    /// kept in `earlier`.
    pub(super) fn function_name(
        &self,
        namespace: String,
        name: String,
        earlier: &mut EarlierNames,
    ) -> String {
        let place = (namespace, name);
        if let Some(name) = self.qualified.get(&place) {
            return name.clone();
        }
        let EarlierNames { by_place, names } = earlier;
        match by_place.entry(place) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let (namespace, name) = new.key();
                let name = names.take(namespace, name);
                new.insert(name).clone()
            }
        }
    }
}

fn declare_function(function: Function, kind: ToolKind, path: &str) -> Declaration {
    Declaration {
        name: function.name,
        description: function.description,
        parameters: function.parameters,
        strict: function.strict,
        deferred: false,
        kind,
        path: path.to_owned(),
    }
}

fn declare_search(search: ToolSearch, path: &str) -> Declaration {
    Declaration {
        name: TOOL_SEARCH.to_owned(),
        description: search.description,
        parameters: search.parameters,
        strict: None,
        deferred: false,
        kind: ToolKind::ToolSearch,
        path: path.to_owned(),
    }
}

/// The text of a search's result: the tools that it found as JSON, with namespaces flattened.
pub(super) fn search_result(
    context: &mut Context<'_>,
    tools: &[Tool],
    path: &str,
) -> Result<String, RequestError> {
    let mut found = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        if let Tool::Namespace(namespace) = tool {
            let about = Json::from([
                ("name", namespace.name.as_str().into()),
                ("description", namespace.description.as_deref().unwrap_or_default().into()),
            ]);
            found.extend(namespace.tools.iter().filter_map(|tool| {
                let mut tool = namespace_tool_json(tool)?;
                tool.insert("namespace", about.clone());
                Some(Json::Object(tool))
            }));
            continue;
        }
        match tool_json(tool) {
            Some(tool) => found.push(tool),
            None => {
                let place = format!("{path}.tools[{index}]");
                let note = "a tool of an unknown type cannot be offered: it is left out";
                context.accept(WarningKind::DroppedTool, &place, note, || {
                    let message =
                        format!("{path}: the enum variant ResponsesTool::Unsupported cannot be serialized");
                    RequestError::new(ErrorKind::Tool, &place, message)
                })?;
            }
        }
    }
    Ok(Json::Array(found).text(Style::Compact))
}

/// A declaration as the API shows it; `None` for one of an unknown type.
pub(super) fn tool_json(tool: &Tool) -> Option<Json> {
    Some(match tool {
        Tool::Function(function) => function_json(function).into(),
        Tool::Namespace(namespace) => {
            let tools = namespace.tools.iter().filter_map(namespace_tool_json).map(Json::Object);
            Json::from([
                ("type", "namespace".into()),
                ("name", namespace.name.as_str().into()),
                ("description", namespace.description.as_deref().into()),
                ("tools", Json::Array(tools.collect())),
            ])
        }
        Tool::Custom(tool) => custom_json(&tool.name).into(),
        Tool::ToolSearch(search) => Json::from([
            ("type", TOOL_SEARCH.into()),
            ("execution", search.execution.as_deref().into()),
            ("description", search.description.as_deref().into()),
            ("parameters", search.parameters.clone().unwrap_or_default()),
        ]),
        Tool::WebSearch { kind, search } => web_search_json(kind, search),
        Tool::Unknown(_) => return None,
    })
}

fn namespace_tool_json(tool: &NamespaceTool) -> Option<Object> {
    match tool {
        NamespaceTool::Function(function) => Some(function_json(function)),
        NamespaceTool::Custom(tool) => Some(custom_json(&tool.name)),
        NamespaceTool::Unknown(_) => None,
    }
}

fn function_json(function: &Function) -> Object {
    Object::from([
        ("type", "function".into()),
        ("name", function.name.as_str().into()),
        ("description", function.description.as_deref().into()),
        ("parameters", function.parameters.clone().unwrap_or_default()),
        ("strict", function.strict.into()),
    ])
}

fn custom_json(name: &str) -> Object {
    Object::from([("type", "custom".into()), ("name", name.into())])
}

fn web_search_json(kind: &str, search: &WebSearch) -> Json {
    let location = search.user_location.as_ref().map(|location| {
        Json::from([
            ("city", location.city.as_deref().into()),
            ("country", location.country.as_deref().into()),
            ("region", location.region.as_deref().into()),
            ("timezone", location.timezone.as_deref().into()),
        ])
    });
    Json::from([
        ("type", kind.into()),
        ("search_context_size", search.search_context_size.as_deref().into()),
        ("user_location", location.into()),
    ])
}
